import type { LogSource } from '#lib/contract/logs.ts'
import { lengthOfWholeCharacters } from '#lib/service/kit/utf8.ts'
import type { LogFile } from './logs.ts'

/** Unspecified: longest message. Longer lines lose text overwritten after a carriage return, and are then truncated. */
const maxMessageBytes = 8 * 1024
/** Unspecified: log limit per command. Its execution has the full output. */
const maxCommandBytes = 256 * 1024
const newline = 10

export interface LoggedCommand {
  source: LogSource
  cmd: string
  cmd_id?: string
  shell_name?: string | null
}

export interface CommandLog {
  output(stream: 'stdout' | 'stderr', chunk: Uint8Array): void
  end(exitCode: number): void
}

/** Logs a command, each line of its output up to a limit, and its exit code. */
export const logCommand = (file: LogFile, { source, cmd, cmd_id, shell_name }: LoggedCommand): CommandLog => {
  const about = { source, ...(cmd_id && { cmd_id }), ...(shell_name && { shell_name }) }
  let left = maxCommandBytes
  const log = (level: 'info' | 'warn', message: string) => {
    if (left <= 0) return
    left -= file.append({ level, ...about, message })
    const note = 'Log limit of this command reached; later output is not logged'
    if (left <= 0) file.append({ level: 'warn', ...about, message: note })
  }
  // Unspecified: stderr lines are warnings. Many programs write progress there.
  const lines = {
    stdout: new LineSplitter((line) => log('info', line)),
    stderr: new LineSplitter((line) => log('warn', line)),
  }
  file.begin()
  file.append({ level: 'info', ...about, cmd: toMessage(Buffer.from(cmd)) })
  return {
    output(stream, chunk) {
      if (left > 0) lines[stream].push(chunk)
    },
    end(exitCode) {
      lines.stdout.end()
      lines.stderr.end()
      file.append({ level: exitCode === 0 ? 'info' : 'error', ...about, exit_code: exitCode })
      file.finish()
    },
  }
}

/** Splits bytes into lines, buffering about twice the longest message. */
class LineSplitter {
  readonly #emit: (line: string) => void
  #line = Buffer.alloc(0)
  /** Dropped bytes at the end of the line. */
  #missing = 0

  constructor(emit: (line: string) => void) {
    this.#emit = emit
  }

  push(chunk: Uint8Array) {
    let start = 0
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      this.#add(chunk.subarray(start, end))
      this.#endLine()
      start = end + 1
    }
    this.#add(chunk.subarray(start))
  }

  end() {
    if (this.#line.length > 0) this.#endLine()
  }

  #add(piece: Uint8Array) {
    this.#line = Buffer.concat([this.#line, piece])
    if (this.#line.length > 2 * maxMessageBytes) this.#truncate()
  }

  #truncate() {
    const start = overwrittenBytes(this.#line)
    if (start > 0) this.#missing = 0
    this.#missing += Math.max(0, this.#line.length - start - maxMessageBytes)
    this.#line = this.#line.subarray(start, start + maxMessageBytes)
  }

  #endLine() {
    if (this.#line.length > maxMessageBytes) this.#truncate()
    this.#emit(toMessage(this.#line, this.#line.length + this.#missing).replace(/\r+$/, ''))
    this.#line = Buffer.alloc(0)
    this.#missing = 0
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is searched for
const controlSequence = /\x1b\[[0-?]*[ -/]*[@-~]/g

/** Bytes before the last carriage return that text follows. */
const overwrittenBytes = (line: Buffer): number => {
  const visible = line.toString('latin1').replace(controlSequence, (each) => ' '.repeat(each.length))
  const lastText = visible.search(/[^\0- \x7f][\0- \x7f]*$/)
  return lastText === -1 ? 0 : Math.max(0, visible.lastIndexOf('\r', lastText))
}

/** Decodes a line that starts with `bytes`. Invalid UTF-8 becomes U+FFFD. */
const toMessage = (bytes: Buffer, length = bytes.length): string => {
  if (length <= maxMessageBytes) return bytes.toString('utf8')
  const end = lengthOfWholeCharacters(bytes.subarray(0, maxMessageBytes))
  return `${bytes.toString('utf8', 0, end)} … (${length - end} more bytes)`
}
