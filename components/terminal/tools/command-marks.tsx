import type { IDecoration, Terminal } from '@xterm/xterm'
import { useEffect } from 'react'
import { toast } from '#components/ui/toast.tsx'
import { formatDurationMs } from '#lib/browser/format.ts'
import { terminalActionOf } from '#lib/browser/frame/shortcuts.ts'
import type { Command, CommandLog } from '#lib/terminal/page/command-log.ts'
import type { OpenedTerminal } from '../pane/opened-terminal.ts'
import { usePaneKeys } from './use-pane-events.ts'

/** Marks commands with their exit status in the gutter, and jumps between prompts. */
export const CommandMarks = ({ opened }: { opened: OpenedTerminal }) => {
  const { terminal, commands } = opened
  usePaneKeys(opened, (event) => {
    const action = terminalActionOf(event)
    if (action !== 'terminal.previous-command' && action !== 'terminal.next-command') return null
    if (terminal.buffer.active.type !== 'normal' || commands.log.commands.length === 0) return null
    return () => goToPrompt(terminal, commands.log, action === 'terminal.previous-command' ? 'before' : 'after')
  })
  useEffect(() => {
    const gutter = gutterOf(terminal, (command) => {
      commands.choose(command)
      selectOutput(terminal, command)
    })
    const stop = commands.subscribe(() => gutter.show(commands.log.commands))
    return () => {
      stop()
      gutter.show([])
    }
  }, [terminal, commands])
  return null
}

const selectOutput = (terminal: Terminal, { output, end, prompt }: Command) => {
  const first = (output ?? prompt).marker.line
  const last = end ? end.marker.line - (end.column === 0 ? 1 : 0) : first
  if (last >= first) terminal.selectLines(first, last)
}

/** Scrolls to the previous or next prompt, or to the end. */
export const goToPrompt = (terminal: Terminal, log: CommandLog, direction: 'before' | 'after') => {
  const { viewportY } = terminal.buffer.active
  const line = log.promptLine(direction, viewportY)
  if (line !== undefined) terminal.scrollToLine(line)
  else if (direction === 'after') terminal.scrollToBottom()
  else toast.info('No prompt above')
}

/** Each mark costs time in every frame, so older prompts get none. */
const maxGutterMarks = 200

const gutterOf = (terminal: Terminal, onChoose: (command: Command) => void) => {
  const marks = new Map<Command, IDecoration>()
  const add = (command: Command) => {
    const decoration = terminal.registerDecoration({ marker: command.prompt.marker, layer: 'top' })
    if (!decoration) return undefined
    decoration.onRender((element) => {
      // xterm resets the width before each call.
      element.style.width = '0.625rem'
      if (element.onmousedown) return
      element.onmousedown = (event) => {
        event.preventDefault()
        event.stopPropagation()
        onChoose(command)
      }
      draw(element, command)
    })
    marks.set(command, decoration)
    return decoration
  }
  const show = (commands: readonly Command[]) => {
    // Prompts without a command get no mark.
    const shown = new Set(commands.filter(({ output }) => output !== undefined).slice(-maxGutterMarks))
    for (const [command, decoration] of marks)
      if (!shown.has(command)) {
        decoration.dispose()
        marks.delete(command)
      }
    for (const command of shown) {
      const element = (marks.get(command) ?? add(command))?.element
      if (element) draw(element, command)
    }
  }
  return { show }
}

const draw = (element: HTMLElement, command: Command) => {
  const state = !command.end ? 'running' : command.exitCode ? 'failed' : 'done'
  element.className = `xterm-decoration terminal-mark terminal-mark-${state}`
  element.title = `${howItEnded(command)}. Click to select the output`
}

export const howItEnded = ({ end, exitCode, startedAtMs, endedAtMs }: Command): string => {
  if (!end) return 'Running'
  const status = exitCode === null || exitCode === undefined ? 'Ended' : `Exit status ${exitCode}`
  const tookMs = startedAtMs === undefined || endedAtMs === undefined ? undefined : endedAtMs - startedAtMs
  return tookMs === undefined ? status : `${status}, ${formatDurationMs(tookMs)}`
}
