export const logError = (entry: object) =>
  process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), level: 'error', ...entry })}\n`)

export const logFailure = (message: string) => (error: unknown) => {
  logError({ message, error: String(error) })
}

/** For repeated attempts: logs the first failure, and the first success after it. */
export const logChanges = (problem: string, recovery: string) => {
  let isFailing = false
  return {
    failed(error: unknown) {
      if (!isFailing) logFailure(problem)(error)
      isFailing = true
    },
    succeeded() {
      if (isFailing) logError({ level: 'info', message: recovery })
      isFailing = false
    },
  }
}
