// Apart from the rules of what is secret, so that a page that knows masks alone does not download those.

/** Stands for a value that looks secret. It is never a value itself: the console refuses it in what is written. */
export const mask = '••••••••'

/** With a new job: the job it was made from, whose values the console's server puts in the place of masks. */
export const valuesOfHeader = 'x-devdeck-values-of'
