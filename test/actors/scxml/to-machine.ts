/**
 * A machine of XState from a document of SCXML (https://www.w3.org/TR/scxml/). Its config is plain data: executable content and conditions are
 * parameters of one action and one guard, so that the same machine may become durable.
 */
import { type AnyStateMachine, and, enqueueActions, not, or, setup, stateIn } from 'xstate'
import { Content, type Context, payloadOf, refTo } from './content.ts'
import { DataModel } from './data-model.ts'
import { type Element, elementsOf, withDescendants } from './parse-xml.ts'

type Anything = any

const stateNames = ['state', 'parallel', 'final', 'history']
const partNames = [...stateNames, 'transition', 'onentry', 'onexit', 'initial', 'datamodel', 'donedata', 'script']
const wordsOf = (text: string | undefined): string[] => (text ?? '').split(/\s+/).filter(Boolean)
const run = (content: Element[]): object => ({ type: 'run', params: { content } })
const actionsOf = (transition: Element): object[] => (transition.children.length > 0 ? [run(elementsOf(transition))] : [])
const blocksOf = (state: Element, name: string): object[] => elementsOf(state, name).map((block) => run(elementsOf(block)))
const dataOf = (state: Element): Element[] => elementsOf(state, 'datamodel').flatMap((element) => elementsOf(element, 'data'))

/** A guard of XState knows nothing of active states, so each `In()` is asked by a `stateIn` of its own around the rest of the condition. */
const guardOf = (cond: string, ids = inPredicatesOf(cond), active: string[] = []): Anything => {
  const [id, ...rest] = ids
  if (id === undefined) return { type: 'holds', params: { cond, active } }
  const isIn = stateIn(refTo(id) as never)
  return or([and([isIn, guardOf(cond, rest, [...active, id])]), and([not(isIn), guardOf(cond, rest, active)])] as never)
}
const inPredicatesOf = (cond: string): string[] => [...new Set([...cond.matchAll(/\bIn\('([^']*)'\)/g)].map(([, id = '']) => id))]

/** SCXML matches by whole words from the left, XState by `*` at the end, and gives other names to the events that it raises by itself. */
const descriptorOf = (word: string): string => {
  const name = word.replace(/\.?\*?$/, '')
  if (name === '') return '*'
  return name === 'done' || name.startsWith('done.') ? `xstate.${name}.*` : `${name}.*`
}
const includes = (wide: string, narrow: string): boolean => wide === '*' || wide === narrow || narrow.startsWith(wide.slice(0, -1))

export const toMachine = (document: Element): AnyStateMachine => {
  const all = withDescendants(document)
  const data = all.filter(({ name }) => name === 'data')
  const isLate = document.attributes.binding === 'late'
  const idOf = (state: Element): string => state.attributes.id ?? `${state.name} ${all.indexOf(state)}`
  const model = new DataModel(
    data.map(({ attributes }) => attributes.id ?? ''),
    document.attributes.name,
  )

  /** Says in which order states are entered and left, also where a document does nothing then. */
  const noteOf = (label: string, state: Element): object => run([{ name: 'log', attributes: { label, expr: `'${idOf(state)}'` }, children: [] }])

  const transitionOf = (element: Element, source: Element): object => {
    const { target, cond, type } = element.attributes
    const inside = withDescendants(source)
      .slice(1)
      .map(({ attributes }) => attributes.id)
    const isInternal = type === 'internal' && source.name === 'state' && wordsOf(target).every((id) => inside.includes(id))
    return {
      // Nothing leaves the document itself.
      ...(target === undefined ? {} : { target: targetOf(target), reenter: source !== document && !isInternal }),
      ...(cond === undefined ? {} : { guard: guardOf(cond) }),
      actions: actionsOf(element),
    }
  }

  /** XState asks the longest descriptor first, SCXML the first transition: so each descriptor gets all transitions that its events may take. */
  const onOf = (state: Element): object => {
    const transitions = elementsOf(state, 'transition').map((element) => ({
      descriptors: wordsOf(element.attributes.event).map(descriptorOf),
      transition: transitionOf(element, state),
    }))
    const keys = new Set(transitions.flatMap(({ descriptors }) => descriptors))
    return Object.fromEntries(
      [...keys].map((key) => [
        key,
        transitions.filter(({ descriptors }) => descriptors.some((wide) => includes(wide, key))).map(({ transition }) => transition),
      ]),
    )
  }

  /** XState begins a state with one of its children; where SCXML begins deeper, or with several, a state of its own leads there at once. */
  const childrenOf = (state: Element): object => {
    const children = elementsOf(state, ...stateNames)
    if (children.length === 0) return {}
    const states = Object.fromEntries(children.map((child) => [idOf(child), stateOf(child)]))
    if (state.name === 'parallel') return { type: 'parallel', states }
    const [initial] = elementsOf(state, 'initial').flatMap((element) => elementsOf(element, 'transition'))
    const [first] = children.filter(({ name }) => name !== 'history').map(idOf)
    const targets = wordsOf(initial?.attributes.target ?? state.attributes.initial ?? first)
    const actions = initial ? actionsOf(initial) : []
    const [target = ''] = targets
    if (targets.length === 1 && target in states) return { initial: { target, actions }, states }
    const begin = `initial of ${idOf(state)}`
    return { initial: begin, states: { [begin]: { id: begin, always: { target: targets.map(refTo), actions } }, ...states } }
  }

  const stateOf = (state: Element): object => {
    if (state.name === 'history') {
      const [byDefault] = elementsOf(state, 'transition')
      const target = wordsOf(byDefault?.attributes.target).map(refTo)
      return { id: idOf(state), type: 'history', history: state.attributes.type ?? 'shallow', target }
    }
    const [donedata] = elementsOf(state, 'donedata')
    const late = isLate ? dataOf(state).map((element) => run([element])) : []
    const unknown = elementsOf(state).find(({ name }) => !partNames.includes(name))
    if (unknown) throw new Error(`<${unknown.name}> is not known here`)
    return {
      id: idOf(state),
      ...(state.name === 'final' ? { type: 'final' } : {}),
      ...(donedata ? { output: outputOf(donedata) } : {}),
      entry: [noteOf('entered', state), ...late, ...blocksOf(state, 'onentry'), ...(donedata ? [run([donedata])] : [])],
      exit: [...blocksOf(state, 'onexit'), noteOf('left', state)],
      on: onOf(state),
      always: elementsOf(state, 'transition')
        .filter(({ attributes }) => attributes.event === undefined)
        .map((element) => transitionOf(element, state)),
      ...childrenOf(state),
    }
  }

  const outputOf =
    (donedata: Element) =>
    ({ context, event }: Anything): unknown => {
      try {
        return payloadOf(donedata, (expression) => model.evaluate(expression, { data: context.data, event, isActive: () => false }))
      } catch {
        return undefined
      }
    }

  const early = isLate ? dataOf(document) : data
  const config = {
    ...stateOf(document),
    id: 'scxml',
    context: { data: {}, sends: 0 } satisfies Context,
    entry: [...early, ...elementsOf(document, 'script').map(global)].map((element) => run([element])),
  }
  return setup({
    actions: { run: enqueueActions((args: Anything, { content }: Anything) => new Content(model, args).run(content)) },
    guards: {
      holds: ({ context, event }: Anything, { cond, active }: Anything) => {
        try {
          return Boolean(model.evaluate(cond, { data: { ...context.data }, event, isActive: (id) => active.includes(id) }))
        } catch {
          return false
        }
      },
    },
  } as Anything).createMachine(config as Anything) as AnyStateMachine
}

const targetOf = (target: string): string | string[] => {
  const targets = wordsOf(target).map(refTo)
  return targets.length === 1 ? (targets[0] as string) : targets
}

/** The functions of the script of a whole document are for all of it. */
const global = (script: Element): Element => ({
  ...script,
  children: script.children.map((text) => (typeof text === 'string' ? text.replace(/^\s*function (\w+)/gm, '$1 = function $1') : text)),
})
