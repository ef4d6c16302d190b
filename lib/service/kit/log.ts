/** Writes one line of JSON on stderr; `level` is `error` unless told otherwise. */
export const logError = (entry: object) =>
  process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), level: 'error', ...entry })}\n`)

/** For `catch`: logs what could not be done and why. */
export const logFailure = (message: string) => (error: unknown) => {
  logError({ message, error: String(error) })
}
