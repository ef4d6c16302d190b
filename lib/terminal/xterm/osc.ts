import type { TerminalMark } from '#lib/protocol/terminals.ts'
import type { Core } from './internals.ts'

/** Reads all payloads of one OSC code, in chunks of any size, up to `most` characters. */
export const readOsc = (
  core: Core,
  code: number,
  most: number,
  read: (data: string, isWhole: boolean) => void,
): void => {
  let text = ''
  let length = 0
  core._inputHandler._parser.registerOscHandler(code, {
    start() {
      text = ''
      length = 0
    },
    put(data, start, end) {
      text += String.fromCodePoint(...data.subarray(start, end).subarray(0, Math.max(0, most - length)))
      length += end - start
    },
    end(isComplete) {
      if (isComplete) read(text, length <= most)
      return true
    },
  })
}

const kinds: Record<string, TerminalMark['kind']> = { A: 'prompt', B: 'command', C: 'output', D: 'end' }

/** https://gitlab.freedesktop.org/Per_Bothner/specifications/blob/master/proposals/semantic-prompts.md */
export const commandMark = (data: string): { kind: TerminalMark['kind']; exitCode?: number } | undefined => {
  const [letter = '', ...rest] = data.split(';')
  const kind = kinds[letter]
  const status = kind === 'end' && rest.find((each) => /^\d{1,3}$/.test(each))
  return kind && { kind, ...(status && { exitCode: Number(status) }) }
}

/** Folder of an OSC 7 `file://host/path`; undefined if it isn't one. */
export const reportedFolder = (data: string): string | undefined => {
  const path = /^file:\/\/[^/]*(\/.*)$/s.exec(data)?.[1]
  if (path === undefined || path.length > 4096) return undefined
  const folder = decoded(path)
  return /\p{Cc}/u.test(folder) ? undefined : folder
}

const decoded = (path: string): string => {
  try {
    return decodeURIComponent(path)
  } catch {
    // Some shells don't encode percent signs.
    return path
  }
}
