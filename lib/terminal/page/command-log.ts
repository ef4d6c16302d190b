import type { IDisposable, IMarker, Terminal } from '@xterm/xterm'
import type { TerminalMark } from '#lib/protocol/terminals.ts'
import { commandMark } from '../xterm/osc.ts'
import { rowPiece } from './lines.ts'

/** A place in the buffer that moves with its line. */
interface Place {
  marker: IMarker
  column: number
}

/** A command of a shell that marks them, from its prompt on. What has not come yet is undefined. */
export interface Command {
  id: number
  prompt: Place
  /** Where the typed command begins, behind the prompt. */
  input?: Place
  output?: Place
  end?: Place
  /** Of an ended command; null when the shell did not tell. */
  exitCode?: number | null
  startedAtMs?: number
  endedAtMs?: number
}

type CommandMark = Pick<TerminalMark, 'kind'> & { exitCode?: number | null }

/** What the log needs of a terminal; that of a page is one, and a headless one as well. */
export type MarkedTerminal = Pick<Terminal, 'registerMarker' | 'onLineFeed'> & {
  parser: Pick<Terminal['parser'], 'registerOscHandler'>
  buffer: Pick<Terminal['buffer'], 'active' | 'normal' | 'onBufferChange'>
}

const maxCommands = 2_000

/**
 * The commands in the scrollback, as the shell marks them by OSC 133; there are none of a shell that marks nothing. A
 * line that leaves the scrollback takes its command along.
 */
export class CommandLog {
  readonly #terminal: MarkedTerminal
  readonly #changed: () => void
  readonly #listening: IDisposable[]
  #commands: Command[] = []
  #unplaced: readonly TerminalMark[] = []
  #nextId = 1

  constructor(terminal: MarkedTerminal, changed: () => void) {
    this.#terminal = terminal
    this.#changed = changed
    this.#listening = [
      terminal.parser.registerOscHandler(133, (data) => {
        if (terminal.buffer.active.type === 'normal') this.#mark(data)
        return true
      }),
      terminal.buffer.onBufferChange(() => this.#placeAll()),
    ]
  }

  /** Oldest first; those whose prompt has left the scrollback are gone. */
  get commands(): readonly Command[] {
    if (this.#commands.some(({ prompt }) => prompt.marker.isDisposed))
      this.#commands = this.#commands.filter(({ prompt }) => !prompt.marker.isDisposed)
    return this.#commands
  }

  /** The newest one that has ended. */
  get lastEnded(): Command | undefined {
    return this.commands.findLast(({ output, end }) => output !== undefined && end !== undefined)
  }

  /** The marks of a snapshot, once the terminal shows it; they take the place of all there were. */
  restore(marks: readonly TerminalMark[]): void {
    this.#commands = []
    this.#unplaced = marks
    this.#placeAll()
    this.#changed()
  }

  /** The line in the buffer of the prompt before or after `line`, if there is one. */
  promptLine(direction: 'before' | 'after', line: number): number | undefined {
    const lines = this.commands.map(({ prompt }) => prompt.marker.line)
    return direction === 'before' ? lines.findLast((each) => each < line) : lines.find((each) => each > line)
  }

  /** What was typed, without the prompt. */
  inputOf({ input, output, end }: Command): string {
    return input ? this.#text(input, output ?? end).trim() : ''
  }

  /** What it printed: up to its end, or to here while it runs. */
  outputOf({ output, end }: Command): string {
    return output ? this.#text(output, end).replace(/\s+$/, '') : ''
  }

  dispose(): void {
    for (const each of this.#listening) each.dispose()
  }

  #mark(data: string): void {
    const mark = commandMark(data)
    if (!mark) return
    const marker = this.#terminal.registerMarker(0)
    this.#add(mark, { marker, column: this.#terminal.buffer.active.cursorX }, Date.now())
    this.#changed()
  }

  #add({ kind, exitCode = null }: CommandMark, place: Place, atMs: number): void {
    const last = this.#commands.at(-1)
    switch (kind) {
      case 'prompt':
        // The shell has printed its prompt again, as after Ctrl-C, Ctrl-L or another size of the window.
        if (last && !last.output) this.#commands.pop()
        this.#commands.push({ id: this.#nextId++, prompt: place })
        if (this.#commands.length > maxCommands) this.#commands.shift()
        return
      case 'command':
        if (last && !last.output) last.input = place
        return
      case 'output':
        if (!last || last.output) return
        last.output = place
        last.startedAtMs = atMs
        return
      case 'end':
        if (!last?.output || last.end) return
        last.end = place
        last.endedAtMs = atMs
        last.exitCode = exitCode
    }
  }

  /** The lines of a snapshot count in the normal buffer, where no marker can be set while the other one is shown. */
  #placeAll(): void {
    const { active } = this.#terminal.buffer
    if (this.#unplaced.length === 0 || active.type !== 'normal') return
    const marks = this.#unplaced
    this.#unplaced = []
    for (const { line, column, kind, exit_code, at_ms } of marks) {
      const marker = this.#terminal.registerMarker(line - active.baseY - active.cursorY)
      this.#add({ kind, exitCode: exit_code ?? null }, { marker, column }, at_ms)
    }
    this.#changed()
  }

  /** The text between two places, lines that only wrapped joined again; to the end of the screen without the second. */
  #text(from: Place, to: Place | undefined): string {
    const { normal } = this.#terminal.buffer
    if (from.marker.isDisposed) return ''
    const last = to ? to.marker.line : normal.baseY + normal.cursorY
    let text = ''
    for (let row = from.marker.line; row <= last; row++) {
      const start = row === from.marker.line ? from.column : 0
      const piece = rowPiece(normal, row, start, to && row === last ? to.column : undefined)
      text += piece.goesOn || row === last ? piece.text : `${piece.text}\n`
    }
    return text
  }
}
