import { ArrowDown, ArrowUp, ClipboardCopy, Copy, Eraser, Link, Repeat, RotateCcw } from 'lucide-react'
import type { MenuItem } from '#components/ui/dropdown-menu.tsx'
import { toast } from '#components/ui/toast.tsx'
import { writeClipboard } from '#components/ui/use-copy.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCountOf } from '#lib/browser/format.ts'
import { type ShortcutId, shortcutOf, shortcutText } from '#lib/browser/frame/shortcuts.ts'
import type { Command } from '#lib/terminal/page/command-log.ts'
import { terminalText } from '#lib/terminal/page/lines.ts'
import { paneOf, type TerminalRequests } from '#lib/terminal/page/requests.ts'
import { type OpenedTerminal, writingRefusal } from '../pane/opened-terminal.ts'
import { goToPrompt, howItEnded } from './command-marks.tsx'

/* Items that the pane's menu and its context menu share. */

/** An action's keys, for the end of a menu item. */
export const keysOf = (id: ShortcutId): string => shortcutText(shortcutOf(id))

const copyText = async (text: string, what: string): Promise<void> => {
  if (text === '') toast.info(`No ${what} to copy`)
  else if (await writeClipboard(text)) toast.info(`Copied ${what}`)
  else toast.danger('The browser blocked copying')
}

const noCommand = ({ commands }: OpenedTerminal): string | null => {
  if (commands.current) return null
  return commands.log.commands.length > 0 ? 'No command has ended yet' : "This shell doesn't mark its commands"
}

export const copyItems = (opened: OpenedTerminal): MenuItem[] => {
  const { commands, terminal } = opened
  const all = () => {
    const text = terminalText(terminal.buffer.active)
    const lines = text === '' ? '' : formatCountOf(text.split('\n').length, 'line')
    void copyText(text, lines || 'output')
  }
  return [
    {
      label: commands.chosen ? 'Copy output of chosen command' : 'Copy output of last command',
      icon: ClipboardCopy,
      disabledReason: noCommand(opened),
      onSelect: () => commands.current && void copyText(commands.log.outputOf(commands.current), 'output'),
    },
    { label: 'Copy all output', icon: Copy, onSelect: all },
  ]
}

export const commandItems = (opened: OpenedTerminal): MenuItem[] => {
  const { commands, terminal, session } = opened
  const { current, log } = commands
  const input = current ? log.inputOf(current) : ''
  const noPrompt = log.commands.length > 0 ? null : "This shell doesn't mark its commands"
  return [
    ...(current ? [{ heading: <Ended command={current} input={input} isChosen={!!commands.chosen} /> }] : []),
    {
      label: 'Insert command at prompt',
      icon: Repeat,
      needs: '/api/terminals',
      disabledReason: noCommand(opened) ?? (input === '' ? 'The command is empty' : writingRefusal(session.state)),
      onSelect: () => {
        opened.paste(input)
        opened.focus()
      },
    },
    {
      label: 'Copy command',
      icon: ClipboardCopy,
      disabledReason: noCommand(opened),
      onSelect: () => void copyText(input, 'command'),
    },
    {
      label: 'Previous command',
      icon: ArrowUp,
      hint: keysOf('terminal.previous-command'),
      disabledReason: noPrompt,
      onSelect: () => goToPrompt(terminal, log, 'before'),
    },
    {
      label: 'Next command',
      icon: ArrowDown,
      hint: keysOf('terminal.next-command'),
      disabledReason: noPrompt,
      onSelect: () => goToPrompt(terminal, log, 'after'),
    },
  ]
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

export const screenItems = (opened: OpenedTerminal, requests: TerminalRequests): MenuItem[] => {
  const refusal = writingRefusal(opened.session.state)
  const ask = (kind: 'links' | 'clear-scrollback' | 'reset') => () => requests.ask(paneOf(opened), kind)
  return [
    { label: 'Links on screen', icon: Link, onSelect: ask('links') },
    'separator',
    {
      label: 'Clear scrollback',
      icon: Eraser,
      needs: '/api/terminals',
      disabledReason: refusal,
      onSelect: ask('clear-scrollback'),
    },
    {
      label: 'Reset terminal',
      icon: RotateCcw,
      needs: '/api/terminals',
      disabledReason: refusal,
      onSelect: ask('reset'),
    },
  ]
}
