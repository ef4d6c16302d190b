/** Quotes text as a shell word. */
export const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
