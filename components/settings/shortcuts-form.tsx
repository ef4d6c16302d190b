'use client'
import { RotateCcw } from 'lucide-react'
import { type KeyboardEvent, useLayoutEffect, useRef, useState } from 'react'
import { Keys } from '#components/layout/keys.tsx'
import { useDestinations } from '#components/layout/navigation.ts'
import { allShortcuts, leaderTimeoutMs } from '#components/layout/shortcuts.ts'
import { Button } from '#components/ui/button.tsx'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { Field } from '#components/ui/field.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { Input } from '#components/ui/input.tsx'
import { Section } from '#components/ui/section.tsx'
import {
  chosenKeys,
  combinationOf,
  isCommand,
  keyCaps,
  type Shortcut,
  type ShortcutScope,
  shortcutProblem,
  shortcutText,
  useChosenKeys,
  useIsMac,
} from '#lib/browser/frame/shortcuts.ts'

const scopes: Record<ShortcutScope, string> = {
  console: 'Every page',
  list: 'Lists',
  compare: 'Side by side',
  terminal: 'Terminals',
}

export const ShortcutsForm = () => {
  const chosen = useChosenKeys()
  const defaults = allShortcuts(useDestinations(), useIsMac())
  const current = defaults.map((each) => ({ ...each, keys: chosen[each.id] ?? each.keys }))
  const [recordingId, setRecordingId] = useState<string>()
  const [isResetting, setIsResetting] = useState(false)
  const hasChanges = defaults.some(({ id, keys }) => chosen[id] !== undefined && chosen[id] !== keys)
  return (
    <div className="max-w-3xl space-y-8">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p className="text-muted">Shortcuts apply to all accounts in this browser.</p>
        <Button
          size="sm"
          icon={RotateCcw}
          disabledReason={hasChanges ? null : 'All shortcuts have their default keys'}
          onClick={() => setIsResetting(true)}
        >
          Reset all shortcuts
        </Button>
      </div>
      {(Object.keys(scopes) as ShortcutScope[]).map((scope) => (
        <Section key={scope} title={scopes[scope]}>
          <ul className="divide-y divide-line">
            {defaults
              .filter((each) => each.scope === scope)
              .map((shortcut) => (
                <ShortcutRow
                  key={shortcut.id}
                  shortcut={shortcut}
                  others={current.filter(({ id }) => id !== shortcut.id)}
                  isRecording={shortcut.id === recordingId}
                  onRecord={(isOn) => setRecordingId(isOn ? shortcut.id : undefined)}
                />
              ))}
          </ul>
        </Section>
      ))}
      <ConfirmDialog
        open={isResetting}
        onOpenChange={setIsResetting}
        title="Reset all shortcuts?"
        consequence="Resets all shortcuts to their default keys in this browser."
        needs={undefined}
        confirmLabel="Reset all shortcuts"
        onConfirm={() => {
          chosenKeys.save({})
          setIsResetting(false)
        }}
      />
    </div>
  )
}

interface ShortcutRowProps {
  shortcut: Shortcut
  others: readonly Shortcut[]
  isRecording: boolean
  onRecord: (isOn: boolean) => void
}

const ShortcutRow = ({ shortcut, others, isRecording, onRecord }: ShortcutRowProps) => {
  const { id, label } = shortcut
  const chosen = useChosenKeys()
  const keys = chosen[id] ?? shortcut.keys
  const mac = useIsMac()
  const change = useRef<HTMLButtonElement>(null)
  const wasRecording = useRef(false)
  useLayoutEffect(() => {
    if (wasRecording.current && !isRecording && document.activeElement === document.body) change.current?.focus()
    wasRecording.current = isRecording
  }, [isRecording])
  const save = (next: string | undefined) => {
    const { [id]: _, ...rest } = chosenKeys.get()
    chosenKeys.save(next === undefined || next === shortcut.keys ? rest : { ...rest, [id]: next })
    onRecord(false)
  }
  if (isRecording)
    return (
      <li className="py-2">
        <KeyRecorder shortcut={shortcut} others={others} onSave={save} onCancel={() => onRecord(false)} />
      </li>
    )
  return (
    <li className="flex min-h-10 flex-wrap items-center gap-x-3 gap-y-1 py-1">
      <span className="min-w-40 flex-1">{label}</span>
      {keys === '' ? <span className="text-muted">Off</span> : <Keys keys={keyCaps(keys, mac)} />}
      <span className="flex items-center gap-1">
        {keys !== shortcut.keys && (
          <IconButton
            size="sm"
            icon={RotateCcw}
            label={`Reset “${label}” to ${shortcutText(shortcut.keys, mac)}`}
            onClick={() => {
              save(undefined)
              change.current?.focus()
            }}
          />
        )}
        <Button ref={change} size="sm" variant="ghost" aria-label={`Change “${label}”`} onClick={() => onRecord(true)}>
          Change
        </Button>
      </span>
    </li>
  )
}

interface KeyRecorderProps extends Pick<ShortcutRowProps, 'shortcut' | 'others'> {
  onSave: (keys: string) => void
  onCancel: () => void
}

const KeyRecorder = ({ shortcut, others, onSave, onCancel }: KeyRecorderProps) => {
  const [recorded, setRecorded] = useState<{ keys: string; atMs: number }>()
  const field = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => field.current?.focus(), [])
  const problem = recorded ? shortcutProblem(recorded.keys, shortcut, others) : null
  const save = () => recorded && problem === null && onSave(recorded.keys)
  const record = (event: KeyboardEvent) => {
    const keys = combinationOf(event.nativeEvent)
    if (keys === null || keys === 'tab' || keys === 'shift+tab') return
    // Also keeps the shortcuts of the console from acting.
    event.preventDefault()
    if (event.repeat) return
    if (keys === 'escape') onCancel()
    else if (keys === 'enter') save()
    else setRecorded((before) => ({ keys: withLeader(before, keys, shortcut.scope), atMs: performance.now() }))
  }
  return (
    <Field
      label={shortcut.label}
      hint={
        shortcut.scope !== 'console'
          ? 'Press the new keys, then Enter. Escape cancels.'
          : 'Press the new keys, or two keys one after the other, then Enter. Escape cancels.'
      }
      error={problem}
    >
      {(control) => (
        <div className="flex flex-wrap items-center gap-2">
          <div className="min-w-48 flex-1">
            <Input
              {...control}
              ref={field}
              readOnly
              placeholder="Press keys"
              value={recorded ? shortcutText(recorded.keys) : ''}
              onKeyDown={record}
            />
          </div>
          <Button
            size="sm"
            variant="primary"
            disabledReason={recorded ? problem && 'Choose other keys' : 'No keys pressed yet'}
            onClick={save}
          >
            Save
          </Button>
          <Button size="sm" onClick={() => onSave('')}>
            Turn off
          </Button>
          <Button size="sm" variant="ghost" onClick={onCancel}>
            Cancel
          </Button>
        </div>
      )}
    </Field>
  )
}

/** Two keys in quick succession are one shortcut, except with modifiers and in terminals. */
const withLeader = (before: { keys: string; atMs: number } | undefined, keys: string, scope: ShortcutScope): string => {
  const isSecond =
    before !== undefined &&
    scope === 'console' &&
    performance.now() - before.atMs <= leaderTimeoutMs &&
    !before.keys.includes(' ') &&
    !isCommand(before.keys) &&
    !isCommand(keys)
  return isSecond ? `${before.keys} ${keys}` : keys
}
