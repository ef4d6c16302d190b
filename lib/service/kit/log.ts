/** Logs one line of JSON to stderr. Default level: `error`. */
export const logError = (entry: object) =>
  process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), level: 'error', ...entry })}\n`)

/** For `catch`: logs the message with the error. */
export const logFailure = (message: string) => (error: unknown) => {
  logError({ message, error: String(error) })
}
