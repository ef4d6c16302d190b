import type { IDisposable, IMarker, Terminal } from '@xterm/xterm'
import { serviceNow } from '#lib/client/clock.ts'
import type { TerminalMark } from '#lib/protocol/terminals.ts'
import { commandMark } from '../xterm/osc.ts'
import { rowPiece } from './lines.ts'

interface Place {
  marker: IMarker
  column: number
}

/** A command as marked by the shell. Parts that haven't arrived are undefined. */
export interface Command {
  id: number
  prompt: Place
  input?: Place
  output?: Place
  end?: Place
  exitCode?: number | null
  startedAtMs?: number
  endedAtMs?: number
}

type CommandMark = Pick<TerminalMark, 'kind'> & { exitCode?: number | null }

export type MarkedTerminal = Pick<Terminal, 'registerMarker' | 'onLineFeed'> & {
  parser: Pick<Terminal['parser'], 'registerOscHandler'>
  buffer: Pick<Terminal['buffer'], 'active' | 'normal' | 'onBufferChange'>
}

const maxCommands = 2_000

/** Commands in the scrollback, from OSC 133 marks. A command disappears when its prompt scrolls out. */
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

  get commands(): readonly Command[] {
    if (this.#commands.some(({ prompt }) => prompt.marker.isDisposed))
      this.#commands = this.#commands.filter(({ prompt }) => !prompt.marker.isDisposed)
    return this.#commands
  }

  get lastEnded(): Command | undefined {
    return this.commands.findLast(({ output, end }) => output !== undefined && end !== undefined)
  }

  /** Replaces all marks with those of a snapshot, once the terminal shows it. */
  restore(marks: readonly TerminalMark[]): void {
    this.#commands = []
    this.#unplaced = marks
    this.#placeAll()
    this.#changed()
  }

  /** Buffer line of the prompt before or after `line`. */
  promptLine(direction: 'before' | 'after', line: number): number | undefined {
    const lines = this.commands.map(({ prompt }) => prompt.marker.line)
    return direction === 'before' ? lines.findLast((each) => each < line) : lines.find((each) => each > line)
  }

  inputOf({ input, output, end }: Command): string {
    return input ? this.#text(input, output ?? end).trim() : ''
  }

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
    this.#add(mark, { marker, column: this.#terminal.buffer.active.cursorX }, serviceNow())
    this.#changed()
  }

  #add({ kind, exitCode = null }: CommandMark, place: Place, atMs: number): void {
    const last = this.#commands.at(-1)
    switch (kind) {
      case 'prompt':
        // The prompt was reprinted, for example after Ctrl-C, Ctrl-L or a resize.
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

  /** Snapshot lines refer to the normal buffer, where markers can't be set while the alternate one is active. */
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

  /** Text between two positions with wrapped lines joined; to the end of the screen if `to` is undefined. */
  #text(from: Place, to: Place | undefined): string {
    const { normal } = this.#terminal.buffer
    if (from.marker.isDisposed) return ''
    const last = to ? to.marker.line : normal.baseY + normal.cursorY
    let text = ''
    for (let row = from.marker.line; row <= last; row++) {
      const start = row === from.marker.line ? from.column : 0
      const piece = rowPiece(normal, row, start, to && row === last ? to.column : undefined)
      text += piece.isContinued || row === last ? piece.text : `${piece.text}\n`
    }
    return text
  }
}
