export const describeExit = (exitCode: number | null, reason: string): string => {
  if (exitCode === null) return reason || 'The shell has ended'
  const signal = exitCode > 128 ? signals[exitCode - 128] : undefined
  if (signal) return `The shell has ended with exit status ${exitCode}: ${signal}`
  const meaning = meanings[exitCode]
  return `The shell has ended with exit status ${exitCode}${meaning ? `: ${meaning}` : ''}`
}

/** The signal that ended a command, if any: shells report it as 128 plus its number. */
export const signalName = (exitStatus: number): string | undefined =>
  /\((.+)\)/.exec(signals[exitStatus - 128] ?? '')?.[1]

// A shell exits with the status of its last command.
const meanings: Record<number, string> = {
  0: 'no error',
  126: 'the last command could not be run',
  127: 'the last command was not found',
}

const signals: Record<number, string> = {
  1: 'hung up (SIGHUP)',
  2: 'interrupted (SIGINT)',
  3: 'quit (SIGQUIT)',
  4: 'illegal instruction (SIGILL)',
  6: 'aborted (SIGABRT)',
  7: 'bus error (SIGBUS)',
  8: 'arithmetic error (SIGFPE)',
  9: 'killed (SIGKILL)',
  11: 'invalid memory access (SIGSEGV)',
  13: 'broken pipe (SIGPIPE)',
  14: 'alarm (SIGALRM)',
  15: 'terminated (SIGTERM)',
}
