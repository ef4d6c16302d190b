/** One line of JSON on stderr; `level` is `error` unless told otherwise. */
export const logError = (entry: object) =>
  process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), level: 'error', ...entry })}\n`)
