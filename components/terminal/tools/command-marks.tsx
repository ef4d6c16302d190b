'use client'
import type { IDecoration, Terminal } from '@xterm/xterm'
import { ArrowDown, ArrowUp, ClipboardCopy, Container, Repeat, TerminalSquare } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { DropdownMenu, type MenuItem } from '#components/ui/dropdown-menu.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { toast } from '#components/ui/toast.tsx'
import { useCopy } from '#components/ui/use-copy.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatDurationMs } from '#lib/console/frame/format.ts'
import { blueprintStep } from '#lib/terminal/page/blueprint-step.ts'
import { type Command, CommandLog } from '#lib/terminal/page/command-log.ts'
import type { OpenedTerminal } from '../pane/opened-terminal.ts'

/** Older prompts keep their place in the log, but no mark beside them: each one costs at every frame. */
const maxGutterMarks = 200
const gutterWidth = '0.625rem'

/**
 * The commands of a shell that marks them: how each one ended beside its prompt, Ctrl+Up and Ctrl+Down from prompt to
 * prompt, and a menu for what the last one printed, or the one whose mark was clicked.
 */
export const CommandMarks = ({ opened }: { opened: OpenedTerminal }) => {
  const log = useRef<CommandLog>(undefined)
  const [, setVersion] = useState(0)
  const [chosen, setChosen] = useState<Command>()
  const { copy } = useCopy()

  useEffect(() => {
    const { terminal, session, onKey } = opened
    const gutter = new Gutter(terminal, (command) => {
      setChosen(command)
      selectOutput(terminal, command)
    })
    let frame = 0
    const created = new CommandLog(terminal, () => {
      // A flood of short commands changes it more often than anyone can see.
      frame ||= requestAnimationFrame(() => {
        frame = 0
        gutter.show(created.commands)
        setVersion((version) => version + 1)
      })
    })
    log.current = created
    const stopMarks = session.onMarks((marks) => created.restore(marks))
    const forgetKeys = onKey((event) => {
      const direction = { ArrowUp: 'before', ArrowDown: 'after' }[event.key] as 'before' | 'after' | undefined
      const isOurs = event.ctrlKey && !event.shiftKey && !event.altKey && !event.metaKey && direction !== undefined
      if (!isOurs || terminal.buffer.active.type !== 'normal' || created.commands.length === 0) return false
      event.preventDefault()
      if (event.type === 'keydown') goToPrompt(terminal, created, direction)
      return true
    })
    return () => {
      cancelAnimationFrame(frame)
      stopMarks()
      forgetKeys()
      gutter.dispose()
      created.dispose()
      log.current = undefined
      setChosen(undefined)
    }
  }, [opened])

  const commands = log.current?.commands ?? []
  const isChosen = chosen !== undefined && commands.includes(chosen)
  const command = isChosen ? chosen : log.current?.lastEnded
  const { terminal } = opened

  const copied = async (text: string, what: string) => {
    await copy(text)
    toast.info(text === '' ? `There is no ${what}` : `Copied ${what}`)
  }
  const items = (): MenuItem[] => {
    const current = log.current
    if (!current) return []
    const input = command ? current.inputOf(command) : ''
    const noCommand = command ? null : 'No command has ended yet'
    return [
      { heading: command ? <Ended command={command} input={input} isChosen={isChosen} /> : 'No command has ended yet' },
      {
        label: isChosen ? 'Copy output' : 'Copy last output',
        icon: ClipboardCopy,
        disabledReason: noCommand,
        onSelect: () => command && void copied(current.outputOf(command), 'output'),
      },
      {
        label: isChosen ? 'Copy command' : 'Copy last command',
        icon: ClipboardCopy,
        disabledReason: noCommand,
        onSelect: () => void copied(input, 'command'),
      },
      {
        label: 'Put it at the prompt again',
        icon: Repeat,
        disabledReason: noCommand,
        onSelect: () => {
          opened.paste(input)
          opened.focus()
        },
      },
      {
        label: 'Copy as a blueprint step',
        icon: Container,
        disabledReason: noCommand,
        onSelect: () => void copied(blueprintStep(input), 'blueprint step'),
      },
      'separator',
      {
        label: 'Previous prompt',
        icon: ArrowUp,
        hint: 'Ctrl ↑',
        onSelect: () => goToPrompt(terminal, current, 'before'),
      },
      {
        label: 'Next prompt',
        icon: ArrowDown,
        hint: 'Ctrl ↓',
        onSelect: () => goToPrompt(terminal, current, 'after'),
      },
    ]
  }
  return (
    <DropdownMenu
      label="Commands of this shell"
      trigger={
        <IconButton
          size="sm"
          icon={TerminalSquare}
          label="Commands"
          disabledReason={commands.length > 0 ? null : 'The shell in this terminal does not mark its commands'}
        />
      }
      items={items()}
    />
  )
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

const howItEnded = ({ end, exitCode, startedAtMs, endedAtMs }: Command): string => {
  if (!end) return 'Running'
  const status = exitCode === null || exitCode === undefined ? 'Ended' : `Exit status ${exitCode}`
  const tookMs = startedAtMs === undefined || endedAtMs === undefined ? undefined : endedAtMs - startedAtMs
  return tookMs === undefined ? status : `${status}, ${formatDurationMs(tookMs)}`
}

/** To the prompt before or after the one at the top of what is shown; after the last one, to the end. */
const goToPrompt = (terminal: Terminal, log: CommandLog, direction: 'before' | 'after') => {
  const { viewportY } = terminal.buffer.active
  const line = log.promptLine(direction, viewportY)
  if (line !== undefined) terminal.scrollToLine(line)
  else if (direction === 'after') terminal.scrollToBottom()
  else toast.info('There is no prompt above')
}

const selectOutput = (terminal: Terminal, { output, end, prompt }: Command) => {
  const first = (output ?? prompt).marker.line
  const last = end ? end.marker.line - (end.column === 0 ? 1 : 0) : first
  if (last >= first) terminal.selectLines(first, last)
}

/** The marks beside the prompts. */
class Gutter {
  readonly #terminal: Terminal
  readonly #onChoose: (command: Command) => void
  readonly #marks = new Map<number, { decoration: IDecoration; command: Command; element?: HTMLElement }>()

  constructor(terminal: Terminal, onChoose: (command: Command) => void) {
    this.#terminal = terminal
    this.#onChoose = onChoose
  }

  show(commands: readonly Command[]): void {
    // A prompt at which nothing was run has nothing to tell.
    const shown = commands.filter(({ output }) => output !== undefined).slice(-maxGutterMarks)
    const ids = new Set(shown.map(({ id }) => id))
    for (const [id, { decoration }] of this.#marks)
      if (!ids.has(id)) {
        decoration.dispose()
        this.#marks.delete(id)
      }
    for (const command of shown) {
      const mark = this.#marks.get(command.id) ?? this.#add(command)
      if (mark?.element) draw(mark.element, command)
    }
  }

  dispose(): void {
    for (const { decoration } of this.#marks.values()) decoration.dispose()
    this.#marks.clear()
  }

  #add(command: Command) {
    const decoration = this.#terminal.registerDecoration({ marker: command.prompt.marker, layer: 'top' })
    if (!decoration) return undefined
    const mark: { decoration: IDecoration; command: Command; element?: HTMLElement } = { decoration, command }
    decoration.onRender((element) => {
      // Set anew by xterm before each of these: as wide as a cell.
      element.style.width = gutterWidth
      if (mark.element === element) return
      mark.element = element
      element.addEventListener('mousedown', (event) => {
        event.preventDefault()
        event.stopPropagation()
        this.#onChoose(command)
      })
      draw(element, command)
    })
    this.#marks.set(command.id, mark)
    return mark
  }
}

const draw = (element: HTMLElement, command: Command) => {
  const state = !command.end ? 'running' : command.exitCode ? 'failed' : 'done'
  element.className = `xterm-decoration terminal-mark terminal-mark-${state}`
  element.title = `${howItEnded(command)}. Click to select the output`
}
