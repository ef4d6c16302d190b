'use client'
import { useInfiniteQuery } from '@tanstack/react-query'
import { ChevronRight, File, Folder, House, type LucideIcon } from 'lucide-react'
import Link from 'next/link'
import { type KeyboardEvent, useEffect, useEffectEvent, useRef, useState, useSyncExternalStore } from 'react'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { displayName } from '#lib/browser/address/encode-path.ts'
import { formatCount } from '#lib/browser/format.ts'
import { byName } from '#lib/protocol/list-folder.ts'
import { baseName, joinPath, parentPath } from './file-path.ts'
import type { FilesNav } from './files-nav.ts'
import { type FolderEntry, openTarget, sortEntries } from './folder-listing.ts'
import { fileQueries } from './queries.ts'

interface FolderTreeProps {
  nav: FilesNav
  /** The folder in view, as in the address. */
  folder: string
  file: string
}

/** More entries of one folder are left to the folder's own view. */
const maxShown = 300

/** Expanded folders by devbox, until the page is left. */
const expandedFolders = new Map<string, ReadonlySet<string>>()

/** Shows the folders around the one in view. Folders load when they are expanded. */
export const FolderTree = (props: FolderTreeProps) => useIsWide() && <WideTree {...props} />

const WideTree = ({ nav, folder, file }: FolderTreeProps) => {
  const { devboxId, refusal } = nav
  const [expanded, setExpanded] = useState(() => expandedFolders.get(devboxId) ?? new Set<string>())
  const [focusable, setFocusable] = useState(home)
  const enabled = refusal === null
  const homePath = useInfiniteQuery({ ...fileQueries.folder(devboxId, home), enabled }).data?.pages[0]?.folder
  const shown = useInfiniteQuery({ ...fileQueries.folder(devboxId, folder), enabled }).data?.pages[0]?.folder
  const expand = (paths: readonly string[], isOpen: boolean) =>
    setExpanded((before) => {
      const after = new Set(before)
      for (const path of paths) {
        if (isOpen) after.add(path)
        else after.delete(path)
      }
      expandedFolders.set(devboxId, after)
      return after
    })
  const current = shown === undefined ? undefined : file === '' ? shown : joinPath(shown, file)
  const reveal = useEffectEvent((path: string, homeFolder: string) => {
    const isInHome = homeFolder !== '/' && (path === homeFolder || path.startsWith(`${homeFolder}/`))
    const root = isInHome ? homeFolder : '/'
    const ancestors: string[] = []
    for (let each = path; each !== root && each !== '/'; each = parentPath(each)) ancestors.push(each)
    expand([isInHome ? home : '/', ...ancestors], true)
    setFocusable(path === homeFolder ? home : path)
  })
  useEffect(() => {
    if (shown !== undefined && homePath !== undefined) reveal(shown, homePath)
  }, [shown, homePath])
  const typed = useRef({ text: '', atMs: 0 })
  const tree: Tree = { nav, expanded, expand, focusable, setFocusable, current }
  return (
    <nav
      aria-label="Folders"
      className="sticky top-[calc(var(--frame-top)+0.5rem)] max-h-[calc(100dvh-var(--frame-top)-2rem)] w-52 max-w-[50%] min-w-40 shrink-0 xl:w-60 resize-x overflow-auto rounded-md border border-line bg-surface-0 py-1"
    >
      <div
        role="tree"
        aria-label="Folders"
        data-takes-keys=""
        onKeyDown={(event) => onTreeKey(event, tree, typed.current)}
        className="w-max min-w-full text-sm"
      >
        <TreeFolder tree={tree} icon={House} name="Home" path={home} level={1} isCurrent={current === homePath} />
        <TreeFolder tree={tree} name="/" path="/" level={1} isCurrent={current === '/' && homePath !== '/'} />
      </div>
    </nav>
  )
}

const home = '~'

interface Tree {
  nav: FilesNav
  expanded: ReadonlySet<string>
  expand: (paths: readonly string[], isOpen: boolean) => void
  /** Path of the item in the tab order. */
  focusable: string
  setFocusable: (path: string) => void
  /** Path of the folder or file in view. */
  current: string | undefined
}

interface TreeFolderProps {
  tree: Tree
  icon?: LucideIcon
  name: string
  path: string
  level: number
  isCurrent: boolean
}

const TreeFolder = ({ tree, icon = Folder, name, path, level, isCurrent }: TreeFolderProps) => {
  const { nav, expanded } = tree
  const isOpen = expanded.has(path)
  const listing = useInfiniteQuery({
    ...fileQueries.folder(nav.devboxId, path),
    enabled: isOpen && nav.refusal === null,
  })
  const [first] = listing.data?.pages ?? []
  const entries = first ? sortEntries(first.entries.filter(openTarget), byName).slice(0, maxShown) : []
  const hiddenCount = first
    ? first.total - (first.entries.length - first.entries.filter(openTarget).length) - entries.length
    : 0
  return (
    <TreeItem
      tree={tree}
      icon={icon}
      name={name}
      path={path}
      level={level}
      isCurrent={isCurrent}
      isOpen={isOpen}
      href={nav.hrefOf(path)}
    >
      {isOpen && (
        <>
          {first &&
            entries.map((entry) => (
              <TreeEntry key={entry.name} tree={tree} entry={entry} folder={first.folder} level={level + 1} />
            ))}
          {hiddenCount > 0 && (
            <div role="none" className="text-muted" style={indentOf(level + 1)}>
              {formatCount(hiddenCount)} more in this folder
            </div>
          )}
          {!first && (
            <div role="none" className="animate-appear-late text-muted" style={indentOf(level + 1)}>
              {listing.error ? "Couldn't load" : 'Loading…'}
            </div>
          )}
        </>
      )}
    </TreeItem>
  )
}

interface TreeEntryProps {
  tree: Tree
  entry: FolderEntry
  folder: string
  level: number
}

const TreeEntry = ({ tree, entry, folder, level }: TreeEntryProps) => {
  const path = joinPath(folder, entry.name)
  const item = { tree, name: displayName(entry.name), path, level, isCurrent: tree.current === path }
  return openTarget(entry) === 'folder' ? (
    <TreeFolder {...item} />
  ) : (
    <TreeItem {...item} icon={File} href={tree.nav.hrefOf(folder, entry.name)} />
  )
}

interface TreeItemProps extends TreeFolderProps {
  icon: LucideIcon
  href: string
  /** For folders. */
  isOpen?: boolean
  children?: React.ReactNode
}

const TreeItem = ({ tree, icon: Icon, name, path, level, isCurrent, isOpen, href, children }: TreeItemProps) => {
  const row = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (isCurrent) row.current?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [isCurrent])
  return (
    <>
      <div
        role="treeitem"
        aria-level={level}
        aria-expanded={isOpen}
        aria-selected={isCurrent}
        data-path={path}
        data-name={name.toLowerCase()}
        tabIndex={tree.focusable === path ? 0 : -1}
        onFocus={(event) => {
          event.stopPropagation()
          tree.setFocusable(path)
        }}
        className="outline-none focus-visible:[&>div]:outline-2 focus-visible:[&>div]:-outline-offset-2 focus-visible:[&>div]:outline-focus"
      >
        <div
          ref={row}
          style={indentOf(level)}
          className={`flex min-h-6 items-center rounded-sm pr-2 ${isCurrent ? 'bg-accent-soft font-medium' : 'hover:bg-surface-2'}`}
        >
          {isOpen === undefined ? (
            <span className="w-5 shrink-0" />
          ) : (
            // biome-ignore lint/a11y/noStaticElementInteractions lint/a11y/useKeyWithClickEvents: the item takes the arrow keys
            <span
              className="flex size-6 shrink-0 cursor-pointer items-center justify-center text-muted"
              onClick={() => tree.expand([path], !isOpen)}
            >
              <ChevronRight aria-hidden className={`size-3.5 ${isOpen ? 'rotate-90' : ''}`} />
            </span>
          )}
          <Link href={href} prefetch={false} tabIndex={-1} className="flex min-w-0 grow items-center gap-1.5 py-0.5">
            <Icon aria-hidden className={`size-3.5 shrink-0 ${isOpen === undefined ? 'text-muted' : 'text-accent'}`} />
            <span className="max-w-72 truncate">
              <VisibleText truncate>{name}</VisibleText>
            </span>
          </Link>
        </div>
      </div>
      {children}
    </>
  )
}

const indentOf = (level: number) => ({ paddingLeft: `${(level - 1) * 0.75 + 0.25}rem` })

const typeAheadMs = 700

const onTreeKey = (event: KeyboardEvent<HTMLElement>, tree: Tree, typed: { text: string; atMs: number }) => {
  const item = event.target instanceof Element ? event.target.closest<HTMLElement>('[role=treeitem]') : null
  if (!item || event.ctrlKey || event.metaKey || event.altKey) return
  const items = [...event.currentTarget.querySelectorAll<HTMLElement>('[role=treeitem]')]
  const at = items.indexOf(item)
  const { path = '' } = item.dataset
  const isOpen = item.getAttribute('aria-expanded')
  const focus = (next: HTMLElement | null | undefined) => next?.focus()
  const levelOf = (each: HTMLElement | undefined) => Number(each?.getAttribute('aria-level'))
  const level = levelOf(item)
  const parent = () => items.slice(0, at).findLast((each) => levelOf(each) < level)
  const actions: Record<string, () => void> = {
    ArrowDown: () => focus(items[at + 1]),
    ArrowUp: () => focus(items[at - 1]),
    Home: () => focus(items[0]),
    End: () => focus(items.at(-1)),
    ArrowRight: () =>
      isOpen === 'false'
        ? tree.expand([path], true)
        : isOpen === 'true' && levelOf(items[at + 1]) > level && focus(items[at + 1]),
    ArrowLeft: () => (isOpen === 'true' ? tree.expand([path], false) : focus(parent())),
    Backspace: () => {
      const { current = '/' } = tree
      if (current !== '/') tree.nav.go(parentPath(current), { focused: baseName(current) })
    },
    Enter: () => item.querySelector('a')?.click(),
    ' ': () => item.querySelector('a')?.click(),
  }
  const action = actions[event.key]
  if (action) {
    typed.text = ''
    action()
  } else if (event.key.length === 1) {
    const now = event.timeStamp
    typed.text = (now - typed.atMs > typeAheadMs ? '' : typed.text) + event.key.toLowerCase()
    typed.atMs = now
    // The first letter moves on from the item; further letters may match it again.
    const from = at + (typed.text.length === 1 ? 1 : 0)
    focus([...items.slice(from), ...items.slice(0, from)].find(({ dataset }) => dataset.name?.startsWith(typed.text)))
  } else return
  event.preventDefault()
  event.stopPropagation()
}

const wide = '(min-width: 64rem)'

/** Narrow pages have room for one pane. */
const useIsWide = () =>
  useSyncExternalStore(
    (listener) => {
      const query = matchMedia(wide)
      query.addEventListener('change', listener)
      return () => query.removeEventListener('change', listener)
    },
    () => matchMedia(wide).matches,
    () => false,
  )
