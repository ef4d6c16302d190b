import {
  cleanLabel,
  firstTerminal,
  isEven,
  type PaneSplit,
  type PaneTree,
  panesOf,
  type SplitDirection,
  sharesOf,
  splitOf,
  type TerminalLayout,
  type TerminalTab,
} from './layout.ts'

/* Changes to a layout; each returns a new one. Invalid changes return the layout unchanged. */

export const terminalsOf = ({ tabs }: TerminalLayout): string[] => tabs.flatMap(({ tree }) => panesOf(tree))

export const shownTab = ({ tabs, active }: TerminalLayout): TerminalTab => (tabs[active] ?? tabs[0]) as TerminalTab

export const freeName = (taken: Iterable<string>): string => {
  const names = new Set(taken)
  if (!names.has(firstTerminal)) return firstTerminal
  for (let number = 2; ; number++) if (!names.has(`shell-${number}`)) return `shell-${number}`
}

/** Opens a tab next to the visible one, or activates an open terminal. */
export const openTab = (layout: TerminalLayout, tab: TerminalTab): TerminalLayout => {
  const shown = terminalsOf(layout)
  const already = panesOf(tab.tree).find((name) => shown.includes(name))
  if (already) return activatePane(layout, already)
  const at = Math.max(layout.active + 1, pinnedCount(layout))
  return { tabs: layout.tabs.toSpliced(at, 0, tab), active: at }
}

/** Splits a pane in half and puts `added` in the second half. */
export const splitPane = (layout: TerminalLayout, name: string, way: SplitDirection, added: string): TerminalLayout => {
  if (terminalsOf(layout).includes(added)) return activatePane(layout, added)
  const index = tabIndexOf(layout, name)
  return changeTab(layout, index, (tab) => ({
    ...tab,
    tree: replacePane(tab.tree, name, { way, parts: [name, added].map((tree) => ({ tree, share: 50 })) }) ?? tab.tree,
    active: added,
  }))
}

/** Removes a pane, and its tab with the last one. Its neighbor gets focus. */
export const closePane = (layout: TerminalLayout, name: string): TerminalLayout => {
  const index = tabIndexOf(layout, name)
  const tab = layout.tabs[index]
  if (!tab) return layout
  const tree = replacePane(tab.tree, name, null)
  if (tree === null) return closeTab(layout, index)
  const before = panesOf(tab.tree)
  const heir = before[before.indexOf(name) - 1] ?? (before[1] as string)
  return changeTab(layout, index, () => ({ ...tab, tree, active: tab.active === name ? heir : tab.active }))
}

/** Shows the next tab, or the previous one at the end. */
export const closeTab = ({ tabs, active }: TerminalLayout, index: number): TerminalLayout => {
  if (tabs.length === 1 || !tabs[index]) return { tabs, active }
  return { tabs: tabs.toSpliced(index, 1), active: index < active ? active - 1 : Math.min(active, tabs.length - 2) }
}

const pinnedCount = ({ tabs }: TerminalLayout): number => tabs.filter(({ isPinned }) => isPinned).length

/** Moves a tab among the pinned ones or among the others; the visible tab stays visible. */
export const moveTab = (layout: TerminalLayout, from: number, to: number): TerminalLayout => {
  const { tabs, active } = layout
  const moved = tabs[from]
  const shown = tabs[active]
  if (!moved || !shown) return layout
  const pinned = pinnedCount(layout)
  const [first, last] = moved.isPinned ? [0, pinned - 1] : [pinned, tabs.length - 1]
  const next = tabs.toSpliced(from, 1).toSpliced(Math.min(last, Math.max(first, to)), 0, moved)
  return { tabs: next, active: next.indexOf(shown) }
}

/** A pinned tab goes after the other pinned ones; an unpinned one before the rest. */
export const pinTab = (layout: TerminalLayout, index: number, isPinned: boolean): TerminalLayout => {
  const tab = layout.tabs[index]
  if (!tab || tab.isPinned === isPinned) return layout
  const to = pinnedCount(layout) - (isPinned ? 0 : 1)
  return moveTab(
    changeTab(layout, index, () => ({ ...tab, isPinned })),
    index,
    to,
  )
}

export const renameTab = (layout: TerminalLayout, index: number, label: string): TerminalLayout =>
  changeTab(layout, index, (tab) => ({ ...tab, label: cleanLabel(label) }))

export const showTab = ({ tabs, active }: TerminalLayout, index: number): TerminalLayout => ({
  tabs,
  active: tabs[index] ? index : active,
})

export const activatePane = (layout: TerminalLayout, name: string): TerminalLayout => {
  const index = tabIndexOf(layout, name)
  if (index === -1) return layout
  return showTab(
    changeTab(layout, index, (tab) => ({ ...tab, active: name })),
    index,
  )
}

export const setShares = (
  layout: TerminalLayout,
  index: number,
  path: readonly number[],
  shares: readonly number[],
): TerminalLayout =>
  changeTab(layout, index, (tab) => ({ ...tab, tree: redistribute(tab.tree, path, sharesOf(shares)) }))

const tabIndexOf = ({ tabs }: TerminalLayout, name: string) =>
  tabs.findIndex(({ tree }) => panesOf(tree).includes(name))

const changeTab = (
  layout: TerminalLayout,
  index: number,
  change: (tab: TerminalTab) => TerminalTab,
): TerminalLayout => {
  const tab = layout.tabs[index]
  return tab ? { ...layout, tabs: layout.tabs.with(index, change(tab)) } : layout
}

const replacePane = (tree: PaneTree, name: string, by: PaneSplit | null): PaneTree | null => {
  if (typeof tree === 'string') return tree === name ? by : tree
  const parts = tree.parts.flatMap(({ tree: inner, share }) => {
    const replaced = replacePane(inner, name, by)
    return replaced === null ? [] : [{ tree: replaced, share }]
  })
  // Even splits stay even.
  const isFewer = parts.length < tree.parts.length && isEven(tree)
  return splitOf(tree.way, isFewer ? parts.map((part) => ({ ...part, share: undefined })) : parts)
}

const redistribute = (tree: PaneTree, [place, ...below]: readonly number[], shares: readonly number[]): PaneTree => {
  if (typeof tree === 'string') return tree
  const parts = tree.parts.map((part, index) => {
    if (place === undefined) return { ...part, share: shares[index] ?? part.share }
    return index === place ? { ...part, tree: redistribute(part.tree, below, shares) } : part
  })
  return { ...tree, parts }
}
