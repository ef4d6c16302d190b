/** The line of the Dockerfile that an error message names. */
export const lineNumberIn = (message: string | null | undefined): number | undefined =>
  Number(/\bline (\d+)/i.exec(message ?? '')?.[1]) || undefined

/** The line that a failure is about. The service builds from a text with lines of its own, such as FROM. */
export const failedLineOf = (lines: readonly string[], message: string | null | undefined): number | undefined => {
  if (!message) return undefined
  const named = lineNumberIn(message)
  const textOf = (number: number) => lines[number - 1]?.replace(/\\$/, '').trim()
  if (named) return [named, named - 1].find((number) => textOf(number) && message.includes(textOf(number) ?? ''))
  return (
    lines.findIndex((_, index) => textOf(index + 1) && message.startsWith(textOf(index + 1) ?? '')) + 1 || undefined
  )
}
