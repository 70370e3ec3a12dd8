/** What has been read of the journal that is open. */
import type { Origin, Row } from '../fold/protocol.ts'
import type { Recorded } from '../model.ts'
import { Lanes } from '../rules/lanes.rules.ts'
import { Spans } from '../rules/spans.rules.ts'

export class Recording {
  origin: Origin | undefined
  readonly rows: Row[] = []
  #lanes: Lanes
  readonly #spans = new Spans()
  #version = 0

  constructor(kind: string) {
    this.#lanes = new Lanes(kind)
  }

  take(rows: readonly Row[], origin: Origin | undefined): void {
    if (origin) {
      this.origin = origin
      this.#lanes = new Lanes(origin.machine)
    }
    for (const row of rows) {
      this.rows.push(row)
      this.#lanes.take(row)
      this.#spans.take(row, this.#lanes)
    }
    this.#version++
  }

  recorded(): Recorded {
    return { rows: this.rows, lanes: this.#lanes, spans: this.#spans, version: this.#version }
  }
}
