/**
 * A story that takes the offline stand-in some twenty seconds, so that there is time to type on or to stop it. Between two chapters it looks
 * at the clock: a turn takes new messages in where a step ends, and only a turn with tools has more than one step.
 */
import type { AssistantMessage } from '../../contracts/message.ts'

const chapters = [
  `The lamp on Skerry Rock had burned for ninety years when Ines came to keep it. The boat that brought her left at once, for the weather was
turning. She carried her bag up two hundred and eleven steps, found the kettle where the last keeper had left it, and lit the lamp an hour
before dusk. Then she opened the log, dipped the pen, and stopped: a keeper's first entry is the time, and she did not know it.`,
  `On the third night the storm came. Waves broke over the gallery, and the wind found every gap in the old panes. Toward midnight the clockwork
that turned the lens gave a crack and stood still. A light that does not turn is a star, and no ship steers by a star so low. So Ines took
the crank out of its bracket, set her feet against the wall, and turned the lens by hand, one round in every thirty seconds.`,
  `She counted rounds until the numbers lost their meaning. Somewhere out there a horn answered, first to the west, then nearer, then past the
rocks and away to the south. She did not see the ship. She only heard it go by, and kept turning, because another might be behind it. When
the window grew grey she noticed that her hands had stopped hurting long ago, and that it was only the sea that still moved.`,
  `A week later the boat came with flour, oil and a new spring for the clockwork. There was also a parcel without a name: a brass watch, and a
card that said: for the keeper who did not stop. Ines wound it, set it on the desk beside the log, and wrote down the time before
anything else. The lamp has turned by itself ever since, they say, but the crank still hangs where she can reach it. And that was the story.`,
].map((chapter) => chapter.replaceAll('\n', ' '))

/** ms between two words, for a model that takes 5 for what is not a story: the whole is then about 300 words in twenty seconds. */
export const storyPace = 13

/** Only as a sentence of its own: a conversation that is to be summarised may hold the wish too. */
export const asksForStory = (text: string): boolean =>
  /^\W{0,3}(?:[a-z']{1,20},? ){0,5}(?:tell|write)\b[^.?!\n]{0,40}\b(?:story|tale)\b[^\n]{0,200}$/i.test(text.trim())

/** @param inOne where there is no clock to look at */
export const beginStory = (inOne: boolean): string => (inOne ? chapters.join('\n\n') : (chapters[0] as string))

export const isChapter = ({ text }: Pick<AssistantMessage, 'text'>): boolean => chapters.some((chapter) => text.endsWith(chapter))

/** The chapter after the one that was told last, and whether another follows. */
export const nextChapter = ({ text }: Pick<AssistantMessage, 'text'>): { text: string; more: boolean } | undefined => {
  const place = chapters.findIndex((chapter) => text.endsWith(chapter)) + 1
  const next = place === 0 ? undefined : chapters[place]
  return next === undefined ? undefined : { text: next, more: place < chapters.length - 1 }
}
