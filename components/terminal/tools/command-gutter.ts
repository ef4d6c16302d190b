import type { IDecoration, Terminal } from '@xterm/xterm'
import { formatDurationMs } from '#lib/browser/format.ts'
import type { Command } from '#lib/terminal/page/command-log.ts'

/** Each mark costs time in every frame, so older prompts get none. */
const maxGutterMarks = 200
const gutterWidth = '0.625rem'

/** Marks next to prompts. */
export const gutterOf = (terminal: Terminal, onChoose: (command: Command) => void) => {
  const marks = new Map<Command, IDecoration>()
  const add = (command: Command) => {
    const decoration = terminal.registerDecoration({ marker: command.prompt.marker, layer: 'top' })
    if (!decoration) return undefined
    decoration.onRender((element) => {
      // xterm resets the width before each call.
      element.style.width = gutterWidth
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
