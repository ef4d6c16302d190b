import type { Terminal } from '@xterm/xterm'
import { useSyncExternalStore } from 'react'
import { type Command, CommandLog } from '#lib/terminal/page/command-log.ts'
import type { PageTerminal } from '#lib/terminal/page/page-terminal.ts'

/** Commands that a pane's shell has marked, for its gutter, keys and menus. */
export class PaneCommands {
  readonly log: CommandLog
  #chosen: Command | undefined
  #version = 0
  #frame = 0
  readonly #listeners = new Set<() => void>()
  readonly #stopMarks: () => void

  constructor(terminal: Terminal, session: PageTerminal) {
    this.log = new CommandLog(terminal, this.#changed)
    this.#stopMarks = session.onMarks((marks) => this.log.restore(marks))
  }

  /** The command whose mark was clicked, while it is in the scrollback. */
  get chosen(): Command | undefined {
    return this.#chosen && this.log.commands.includes(this.#chosen) ? this.#chosen : undefined
  }

  /** What menus act on: the chosen command, or the last that has ended. */
  get current(): Command | undefined {
    return this.chosen ?? this.log.lastEnded
  }

  choose(command: Command): void {
    this.#chosen = command
    this.#changed()
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  version = (): number => this.#version

  close(): void {
    cancelAnimationFrame(this.#frame)
    this.#listeners.clear()
    this.#stopMarks()
    this.log.dispose()
  }

  /** At most once per frame, because a flood may contain many marks. */
  readonly #changed = () => {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0
      this.#version++
      for (const listener of this.#listeners) listener()
    })
  }
}

export const useCommands = ({ commands }: { commands: PaneCommands }): PaneCommands => {
  useSyncExternalStore(commands.subscribe, commands.version, commands.version)
  return commands
}
