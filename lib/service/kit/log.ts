export const logError = (entry: object) =>
  process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), level: 'error', ...entry })}\n`)

export const logFailure = (message: string) => (error: unknown) => {
  logError({ message, error: String(error) })
}
