import serialize from '@xterm/addon-serialize'
import headless from '@xterm/headless'
import type { TerminalMark } from '#lib/contract/terminal-relay.ts'

interface Options {
  cols: number
  rows: number
  scrollback: number
  answer(bytes: string): void
}

/** The screen of a shell, as far as the serialize addon knows it; without marks, and without the modes it leaves out. */
export class TerminalMirror {
  readonly #terminal: headless.Terminal
  readonly #serialize = new serialize.SerializeAddon()
  title = ''
  #pendingBytes = 0

  constructor({ cols, rows, scrollback, answer }: Options) {
    this.#terminal = new headless.Terminal({ cols, rows, scrollback, allowProposedApi: true })
    this.#terminal.loadAddon(this.#serialize)
    this.#terminal.onData((bytes) => answer(bytes))
    this.#terminal.onTitleChange((title) => {
      this.title = title.slice(0, 200)
    })
  }

  get pendingBytes(): number {
    return this.#pendingBytes
  }

  set scrollback(lines: number) {
    this.#terminal.options.scrollback = lines
  }

  write(bytes: Uint8Array, parsed?: () => void): void {
    this.#pendingBytes += bytes.length
    this.#terminal.write(bytes, () => {
      this.#pendingBytes -= bytes.length
      parsed?.()
    })
  }

  resize(cols: number, rows: number): void {
    this.#terminal.write('', () => this.#terminal.resize(cols, rows))
  }

  snapshot(
    scrollback: number,
    done: (snapshot: { text: string; cols: number; rows: number; marks: TerminalMark[] }) => void,
  ): void {
    this.#terminal.write('', () => {
      const { cols, rows } = this.#terminal
      done({ text: `\x1bc${this.#serialize.serialize({ scrollback })}`, cols, rows, marks: [] })
    })
  }

  dispose(): void {
    this.#terminal.dispose()
  }
}
