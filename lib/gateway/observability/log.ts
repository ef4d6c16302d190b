import { registry } from '../registry/registry.ts'

type Level = 'info' | 'warn' | 'error'
type Fields = Record<string, unknown>

/** Writes a line: plain text, or JSON with time and level (DEVDECK_LOG). Warnings and errors go to standard error. */
const write = (level: Level, message: string, fields: Fields, error?: unknown): void => {
  const print = level === 'info' ? console.log : console.error
  if (isJson()) {
    const cause = error === undefined ? {} : { error: error instanceof Error ? error.stack : String(error) }
    print(JSON.stringify({ time: new Date().toISOString(), level, message, ...fields, ...cause }))
  } else if (error === undefined) print(message)
  else print(`${message}:`, error)
}

/** Text until the configuration is read. */
const isJson = (): boolean => {
  try {
    return registry().config.logFormat === 'json'
  } catch {
    return false
  }
}

export const logInfo = (message: string, fields: Fields = {}): void => write('info', message, fields)
export const logWarning = (message: string, fields: Fields = {}): void => write('warn', message, fields)
export const logError = (message: string, error?: unknown, fields: Fields = {}): void =>
  write('error', message, fields, error)
