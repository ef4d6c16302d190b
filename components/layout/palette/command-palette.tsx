'use client'
import { Command } from 'cmdk'
import { ChevronRight, Search } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { Dialog } from 'radix-ui'
import { type KeyboardEvent, type ReactNode, useState } from 'react'
import { classes } from '#components/ui/classes.ts'
import { Modal } from '#components/ui/dialog.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { findEntries, type PaletteEntry } from './entries.ts'
import { recentItems } from './recent.ts'
import { searchSections, useDocs, useResults } from './search-results.tsx'
import { neverRecent, useSections } from './sections.tsx'

interface CommandPaletteProps {
  onClose: () => void
  onHelp: () => void
}

export const CommandPalette = (props: CommandPaletteProps) => (
  <Modal
    onOpenChange={props.onClose}
    className="top-[12dvh] left-1/2 w-[calc(100vw-2rem)] max-w-xl -translate-x-1/2 overflow-hidden rounded-lg bg-overlay"
  >
    <Dialog.Title className="sr-only">Command palette</Dialog.Title>
    <Commands {...props} />
  </Modal>
)

const Commands = ({ onClose, onHelp }: CommandPaletteProps) => {
  const router = useRouter()
  const [text, setText] = useState('')
  const query = text.trim()
  /** Entries whose pages are open, the last one in view. */
  const [opened, setOpened] = useState<readonly PaletteEntry[]>([])
  const page = opened.at(-1)
  const sections = useSections(onHelp)
  const found = useResults(page ? '' : query)
  const docs = useDocs(query)
  const shown = page
    ? [{ heading: page.label, entries: query === '' ? (page.items ?? []) : findEntries(page.items ?? [], query) }]
    : query === ''
      ? sections
      : searchSections(sections, query, found, docs)

  const entries = shown.flatMap((section) => section.entries)
  // The first entry, whatever arrives, until the user has chosen one.
  const [picked, setPicked] = useState<string>()
  const selected = entries.find(({ key }) => key === picked) ?? entries[0]

  const openPage = (pages: readonly PaletteEntry[]) => {
    setOpened(pages)
    setText('')
    setPicked(undefined)
  }
  const choose = (entry: PaletteEntry) => {
    const { items, run, href, disabledReason } = entry
    if (disabledReason) return
    if (items) return openPage([...opened, entry])
    onClose()
    if (run && !neverRecent.includes(entry.key)) recentItems.add({ action: entry.key.replace(/^recent /, '') })
    // After the palette has returned the focus, so that what opens returns it to the right element.
    if (run) setTimeout(() => setTimeout(run))
    if (href !== undefined) router.push(href)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const goesBack = event.key === 'Escape' || (event.key === 'Backspace' && text === '')
    if (!page || !goesBack) return
    event.preventDefault()
    event.stopPropagation()
    openPage(opened.slice(0, -1))
  }
  return (
    <Command
      label="Command palette"
      loop
      shouldFilter={false}
      value={selected?.key ?? ''}
      // cmdk also reports the first entry of each list, which is no choice of the user.
      onValueChange={(key) => setPicked(key === entries[0]?.key ? undefined : key)}
    >
      <div className="flex items-center gap-2.5 border-b border-line px-4">
        <Search aria-hidden className="size-4 shrink-0 text-muted" />
        {opened.map(({ key, label }) => (
          <span key={key} className="flex min-w-0 shrink-0 items-center gap-1 text-muted">
            {label} <ChevronRight aria-hidden className="size-3.5" />
          </span>
        ))}
        <Command.Input
          value={text}
          onValueChange={(next) => {
            setText(next)
            setPicked(undefined)
          }}
          onKeyDown={onKeyDown}
          data-takes-escape={page ? '' : undefined}
          aria-description={page ? `${page.label}. Backspace goes back` : undefined}
          placeholder={page ? 'Search' : 'Search by name or ID, or run an action'}
          className="h-12 min-w-0 flex-1 bg-transparent text-lg outline-none placeholder:text-muted"
        />
      </div>
      <Command.List className="max-h-[min(26rem,60dvh)] scroll-py-2 overflow-y-auto p-2">
        {shown.map(({ heading, entries, notes = [] }) => (
          <Group key={heading} heading={heading}>
            {entries.map((entry) => (
              <Entry key={entry.key} entry={entry} onSelect={() => choose(entry)} />
            ))}
            {notes.map((note) => (
              <p key={note} role="status" className="px-2 py-1 text-sm text-muted">
                {note}
              </p>
            ))}
          </Group>
        ))}
        {entries.length === 0 && page && (
          <p role="status" className="px-2 py-1 text-sm text-muted">
            No matches
          </p>
        )}
      </Command.List>
    </Command>
  )
}

const Group = ({ children, heading }: { heading: string; children: ReactNode }) => (
  <Command.Group
    heading={heading}
    className="[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-muted"
  >
    {children}
  </Command.Group>
)

const Entry = ({ entry, onSelect }: { entry: PaletteEntry; onSelect: () => void }) => {
  const { key, label, icon: Icon = ChevronRight, hint, trail = [], disabledReason, items, detail } = entry
  return (
    <Command.Item
      value={key}
      onSelect={onSelect}
      className={classes(
        'flex min-h-8 items-center gap-2.5 rounded-md px-2 py-1 data-[selected=true]:bg-surface-2',
        disabledReason ? 'cursor-not-allowed text-muted' : 'cursor-pointer',
      )}
    >
      <Icon aria-hidden className="size-4 shrink-0 text-muted" />
      <span className="min-w-0 flex-1 truncate">
        {trail.map((each) => (
          <span key={each} className="text-muted">
            {each} <span aria-hidden>› </span>
          </span>
        ))}
        <VisibleText max={80}>{label}</VisibleText>
        {items && ' …'}
        {(disabledReason || detail) && (
          <span className="block truncate text-xs text-muted">{disabledReason || detail}</span>
        )}
      </span>
      {hint}
    </Command.Item>
  )
}
