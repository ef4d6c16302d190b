import type { TerminalMark } from '#lib/protocol/terminals.ts'
import type { Core } from './internals.ts'

/*
 * What shells tell their terminal by OSC sequences. Pages and the console's mirrors read them alike: what a page has
 * heard itself must be what it is told after a reload.
 */

/** Reads all that is said by this code, in pieces of any size, and keeps no more than the first `most` characters. */
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

/**
 * Of an OSC 133: which place of a command it marks, and of an end the exit status if it is told
 * (https://gitlab.freedesktop.org/Per_Bothner/specifications/blob/master/proposals/semantic-prompts.md).
 */
export const commandMark = (data: string): { kind: TerminalMark['kind']; exitCode?: number } | undefined => {
  const [letter = '', ...rest] = data.split(';')
  const kind = kinds[letter]
  const status = kind === 'end' && rest.find((each) => /^\d{1,3}$/.test(each))
  return kind && { kind, ...(status && { exitCode: Number(status) }) }
}

/** The folder of an OSC 7, `file://host/path`; undefined when it is none. */
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
    // A shell that does not encode a per cent sign.
    return path
  }
}
