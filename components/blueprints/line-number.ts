/** The line of the Dockerfile that an error message names. */
export const lineNumberIn = (message: string | null | undefined): number | undefined =>
  Number(/\bline (\d+)/i.exec(message ?? '')?.[1]) || undefined
