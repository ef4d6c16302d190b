export const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
