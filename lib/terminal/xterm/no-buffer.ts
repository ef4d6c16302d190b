/** A page has none. */
export const Buffer = undefined
