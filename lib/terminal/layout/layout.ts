import { sessionNamePattern } from '#lib/contract/terminals.ts'

/** Open terminals and their arrangement, stored in the address. Immutable. */
export interface TerminalLayout {
  tabs: readonly TerminalTab[]
  active: number
}

export interface TerminalTab {
  /** Custom name; empty to use the shell's title. */
  label: string
  tree: PaneTree
  /** Session with keyboard focus while the tab is visible. */
  active: string
  /** Stays left of the others, and isn't closed by accident. */
  isPinned: boolean
}

/** A session name, or a split. */
export type PaneTree = string | PaneSplit

export interface PaneSplit {
  way: SplitDirection
  /** At least two; none is a split in the same direction. */
  parts: readonly PanePart[]
}
export interface PanePart {
  tree: PaneTree
  /** Percent of the split, as an integer. Shares add up to 100. */
  share: number
}
export type SplitDirection = 'right' | 'down'

/** Open terminals per page. A devbox may have more shells; the others stay hidden. */
export const maxTerminals = 8
export const maxLabelLength = 40
/** Smaller panes couldn't be read. */
export const minShare = 5
export const firstTerminal = 'main'

export const singleTab = (name: string): TerminalTab => ({ label: '', tree: name, active: name, isPinned: false })
/** Servers reject longer addresses. */
const maxText = 8192
const defaultLayout: TerminalLayout = { tabs: [singleTab(firstTerminal)], active: 0 }

/**
 * Parses the `t` parameter. Tabs are separated by commas; `a.b` puts b beside a, `a/b` below it, parentheses group,
 * `*60` sets a share of 60 percent, `:` starts a label, in which `~` escapes comma and tilde. `@` marks the visible
 * tab or focused pane (default: the first), `!` a pinned tab: `!main,@(build*60/test).@logs:Web server`. Anything
 * invalid is skipped.
 * `refused` lists sessions over the limit.
 */
export const parseLayout = (text: string | null | undefined): { layout: TerminalLayout; refused: string[] } => {
  const refused: string[] = []
  const seen = new Set<string>()
  const admit = (name: string) => {
    // Two panes with the same session would keep taking it from each other.
    if (seen.has(name)) return false
    seen.add(name)
    if (seen.size <= maxTerminals) return true
    refused.push(name)
    return false
  }
  const tabs: TerminalTab[] = []
  let active: TerminalTab | undefined
  for (const part of (text ?? '').slice(0, maxText).match(/(?:~.|[^,])+/gsu) ?? []) {
    const [, marks = '', head = '', label = ''] = /^\s*([@!]*)([^:]*):?(.*)$/su.exec(part) ?? []
    const { tree, active: pane } = new TreeReader(head, admit).read()
    if (tree === null) continue
    tabs.push({
      label: cleanLabel(label.replace(/~(.?)/gsu, '$1')),
      tree,
      active: pane ?? firstOf(tree),
      isPinned: marks.includes('!'),
    })
    if (marks.includes('@')) active ??= tabs.at(-1)
  }
  if (tabs.length === 0) return { layout: defaultLayout, refused }
  const shown = active ?? tabs[0]
  const inOrder = [...tabs.filter(({ isPinned }) => isPinned), ...tabs.filter(({ isPinned }) => !isPinned)]
  return { layout: { tabs: inOrder, active: inOrder.indexOf(shown as TerminalTab) }, refused }
}

/** Inverse of `parseLayout`; empty for the default layout. */
export const formatLayout = ({ tabs, active }: TerminalLayout): string => {
  const text = tabs
    .map(({ label, tree, active: pane, isPinned }, index) => {
      const marked = pane === firstOf(tree) ? undefined : pane
      return `${index === active && index > 0 ? '@' : ''}${isPinned ? '!' : ''}${formatTree(tree, marked)}${label && `:${label.replace(/[~,]/g, '~$&')}`}`
    })
    .join(',')
  return text === firstTerminal ? '' : text
}

/** Query parameter that encodes only what a query can't contain. */
export const layoutParameter = (layout: TerminalLayout): string => {
  const text = formatLayout(layout)
  const encoded = encodeURIComponent(text).replace(/%(?:2C|3A|2F|40)/g, decodeURIComponent)
  return text && `&t=${encoded}`
}

/** One line of limited length that an address can carry. */
export const cleanLabel = (label: string): string => {
  const line = label.toWellFormed().replace(/\p{Cc}+/gu, ' ')
  return [...line.trim()].slice(0, maxLabelLength).join('').trim()
}

export const panesOf = (tree: PaneTree): string[] =>
  typeof tree === 'string' ? [tree] : tree.parts.flatMap((part) => panesOf(part.tree))

const firstOf = (tree: PaneTree): string => panesOf(tree)[0] as string

const marks: Record<SplitDirection, string> = { right: '.', down: '/' }

const formatTree = (tree: PaneTree, marked: string | undefined): string => {
  if (typeof tree === 'string') return tree === marked ? `@${tree}` : tree
  const areEven = isEven(tree)
  return tree.parts
    .map((part, index) => {
      const inner = formatTree(part.tree, marked)
      // The last part takes the rest.
      const share = areEven || index === tree.parts.length - 1 ? '' : `*${part.share}`
      return `${typeof part.tree === 'string' ? inner : `(${inner})`}${share}`
    })
    .join(marks[tree.way])
}

/** All shares are equal, apart from rounding. */
export const isEven = ({ parts }: PaneSplit): boolean =>
  sharesOf(parts.map(() => undefined)).every((share, index) => share === parts[index]?.share)

/** Creates a split, flattening nested splits in the same direction. A single part is returned as is. */
export const splitOf = (
  way: SplitDirection,
  parts: readonly { tree: PaneTree; share: number | undefined }[],
): PaneTree | null => {
  const shares = sharesOf(parts.map(({ share }) => share))
  const flat = parts.flatMap(({ tree }, index): PanePart[] => {
    const share = shares[index] as number
    if (typeof tree === 'string' || tree.way !== way) return [{ tree, share }]
    return tree.parts.map((inner) => ({ tree: inner.tree, share: (share * inner.share) / 100 }))
  })
  const [first, ...others] = flat
  if (!first || others.length === 0) return first?.tree ?? null
  const whole = sharesOf(flat.map(({ share }) => share))
  return { way, parts: flat.map(({ tree }, index) => ({ tree, share: whole[index] as number })) }
}

/** Integer percentages that add up to 100. Parts without a value share the rest. */
export const sharesOf = (given: readonly (number | undefined)[]): number[] => {
  const assigned = given.reduce<number>((sum, share) => sum + (share ?? 0), 0)
  const left = (100 - assigned) / given.filter((share) => share === undefined).length
  const wished = given.map((share) => Math.max(minShare, share ?? left))
  const total = wished.reduce((sum, share) => sum + share, 0)
  const shares = wished.map((share) => Math.max(minShare, Math.round((share * 100) / total)))
  for (let off = 100 - shares.reduce((sum, share) => sum + share, 0); off !== 0; off -= Math.sign(off)) {
    const largest = shares.indexOf(Math.max(...shares))
    shares[largest] = (shares[largest] as number) + Math.sign(off)
  }
  return shares
}

/** Parser for one tab that skips invalid input. `/` binds tighter than `.`. */
class TreeReader {
  readonly #tokens: string[]
  readonly #admit: (name: string) => boolean
  #at = 0
  #active: string | undefined

  constructor(text: string, admit: (name: string) => boolean) {
    this.#tokens = text.match(/[A-Za-z0-9_-]+|\*\d*|[@./()]/g) ?? []
    this.#admit = admit
  }

  read(): { tree: PaneTree | null; active: string | undefined } {
    const { tree } = this.#row('right', 0)
    return { tree, active: this.#active }
  }

  #row(way: SplitDirection, depth: number): { tree: PaneTree | null; share?: number | undefined } {
    const parts: { tree: PaneTree; share: number | undefined }[] = []
    do {
      const { tree, share } = way === 'right' ? this.#row('down', depth) : this.#part(depth)
      if (tree !== null) parts.push({ tree, share })
    } while (this.#take(marks[way]))
    // A single part isn't a row: its share belongs to the enclosing row.
    const [only] = parts
    if (only && parts.length === 1) return only
    return { tree: splitOf(way, parts) }
  }

  #part(depth: number): { tree: PaneTree | null; share: number | undefined } {
    const isActive = this.#take('@')
    let tree: PaneTree | null = null
    // Deeper nesting than panes allow is noise, and must not exhaust the stack.
    if (this.#take('(')) {
      if (depth < maxTerminals) {
        tree = this.#row('right', depth + 1).tree
        this.#take(')')
      }
    } else {
      const name = this.#tokens[this.#at] ?? ''
      if (sessionNamePattern.test(name)) {
        this.#at++
        if (this.#admit(name)) {
          tree = name
          if (isActive) this.#active = name
        }
      }
    }
    const share = /^\*(\d*)$/.exec(this.#tokens[this.#at] ?? '')?.[1]
    if (share !== undefined) this.#at++
    return { tree, share: share ? Math.min(95, Math.max(minShare, Number(share))) : undefined }
  }

  #take(token: string): boolean {
    if (this.#tokens[this.#at] !== token) return false
    this.#at++
    return true
  }
}
