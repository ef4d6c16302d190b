import type { IDecoration, Terminal } from '@xterm/xterm'
import { ArrowDown, ArrowUp, ClipboardCopy, type LucideIcon, Repeat, TerminalSquare } from 'lucide-react'
import { useEffect, useState } from 'react'
import { DropdownMenu, type MenuItem } from '#components/ui/dropdown-menu.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { toast } from '#components/ui/toast.tsx'
import { writeClipboard } from '#components/ui/use-copy.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatDurationMs } from '#lib/browser/format.ts'
import { type Command, CommandLog } from '#lib/terminal/page/command-log.ts'
import type { OpenedTerminal } from '../pane/opened-terminal.ts'
import { usePaneKeys } from './use-pane-events.ts'

/** Marks commands with their exit status, jumps between prompts and offers a menu for a command's output. */
export const CommandMarks = ({ opened }: { opened: OpenedTerminal }) => {
  const { terminal } = opened
  const { log, chosen } = useCommandLog(opened)
  const goTo = (direction: 'before' | 'after') => () => log && goToPrompt(terminal, log, direction)
  usePaneKeys(opened, ({ key, ctrlKey, shiftKey, altKey, metaKey }) => {
    const isOurs = ctrlKey && !shiftKey && !altKey && !metaKey && (key === 'ArrowUp' || key === 'ArrowDown')
    if (!isOurs || terminal.buffer.active.type !== 'normal' || !log?.commands.length) return null
    return goTo(key === 'ArrowUp' ? 'before' : 'after')
  })

  const isChosen = chosen !== undefined && log?.commands.includes(chosen) === true
  const command = isChosen ? chosen : log?.lastEnded
  const input = (command && log?.inputOf(command)) ?? ''
  const copied = async (text: string, what: string) => {
    await writeClipboard(text)
    toast.info(text === '' ? `No ${what} to copy` : `Copied ${what}`)
  }
  const ofCommand = (label: string, icon: LucideIcon, run: (command: Command, log: CommandLog) => void): MenuItem => ({
    label,
    icon,
    disabledReason: command ? null : 'No command has ended yet',
    onSelect: () => command && log && run(command, log),
  })
  const which = isChosen ? '' : 'last '
  const items: MenuItem[] = [
    { heading: command ? <Ended command={command} input={input} isChosen={isChosen} /> : 'No command has ended yet' },
    ofCommand(`Copy ${which}output`, ClipboardCopy, (it, log) => void copied(log.outputOf(it), 'output')),
    ofCommand(`Copy ${which}command`, ClipboardCopy, () => void copied(input, 'command')),
    ofCommand('Insert at prompt', Repeat, () => {
      opened.paste(input)
      opened.focus()
    }),
    'separator',
    { label: 'Previous prompt', icon: ArrowUp, hint: 'Ctrl ↑', onSelect: goTo('before') },
    { label: 'Next prompt', icon: ArrowDown, hint: 'Ctrl ↓', onSelect: goTo('after') },
  ]
  return (
    <DropdownMenu
      label="Commands"
      trigger={
        <IconButton
          size="sm"
          icon={TerminalSquare}
          label="Commands"
          disabledReason={log?.commands.length ? null : "This shell doesn't mark its commands"}
        />
      }
      items={items}
    />
  )
}

const useCommandLog = (opened: OpenedTerminal): { log: CommandLog | undefined; chosen: Command | undefined } => {
  const [{ log }, setMarked] = useState<{ log?: CommandLog }>({})
  const [chosen, setChosen] = useState<Command>()
  useEffect(() => {
    const { terminal, session } = opened
    const gutter = gutterOf(terminal, (command) => {
      setChosen(command)
      selectOutput(terminal, command)
    })
    let frame = 0
    const created = new CommandLog(terminal, () => {
      frame ||= requestAnimationFrame(() => {
        frame = 0
        gutter.show(created.commands)
        setMarked({ log: created })
      })
    })
    const stopMarks = session.onMarks((marks) => created.restore(marks))
    return () => {
      cancelAnimationFrame(frame)
      stopMarks()
      gutter.show([])
      created.dispose()
      setMarked({})
      setChosen(undefined)
    }
  }, [opened])
  return { log, chosen }
}

const Ended = ({ command, input, isChosen }: { command: Command; input: string; isChosen: boolean }) => (
  <span className="block">
    <span className="block text-xs">{isChosen ? 'Chosen command' : 'Last command'}</span>
    <span className="block truncate font-mono text-text">
      <VisibleText max={120}>{input || '(empty)'}</VisibleText>
    </span>
    <span className="tabular block text-xs">{howItEnded(command)}</span>
  </span>
)

const selectOutput = (terminal: Terminal, { output, end, prompt }: Command) => {
  const first = (output ?? prompt).marker.line
  const last = end ? end.marker.line - (end.column === 0 ? 1 : 0) : first
  if (last >= first) terminal.selectLines(first, last)
}

/** Scrolls to the previous or next prompt, or to the end. */
const goToPrompt = (terminal: Terminal, log: CommandLog, direction: 'before' | 'after') => {
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

const howItEnded = ({ end, exitCode, startedAtMs, endedAtMs }: Command): string => {
  if (!end) return 'Running'
  const status = exitCode === null || exitCode === undefined ? 'Ended' : `Exit status ${exitCode}`
  const tookMs = startedAtMs === undefined || endedAtMs === undefined ? undefined : endedAtMs - startedAtMs
  return tookMs === undefined ? status : `${status}, ${formatDurationMs(tookMs)}`
}
