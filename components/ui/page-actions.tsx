'use client'
import type { LucideIcon } from 'lucide-react'
import {
  type ComponentProps,
  createContext,
  type ReactNode,
  type Ref,
  use,
  useCallback,
  useEffect,
  useMemo,
  useRef,
} from 'react'

/** An action that the command palette offers while what declares it is on the page. */
export interface PaletteAction {
  label: string
  /** Heading of a group before the page's other actions. */
  group?: string
  icon?: LucideIcon
  /** Why it isn't possible now; the palette shows it with this reason. */
  disabledReason?: string | null
  run?: () => void
  href?: string
  /** Opens a page of the palette with these actions. */
  items?: readonly PaletteAction[]
}

type Source = () => readonly PaletteAction[]
const sources = new Set<Source>()

const listeners = new Set<() => void>()

/** Offers actions in the command palette while the component is mounted. */
export const usePaletteActions = (actionsOf: Source, isOffered = true): void => {
  const latest = useRef(actionsOf)
  useEffect(() => {
    latest.current = actionsOf
    if (isOffered) announce()
  })
  useEffect(() => {
    if (!isOffered) return
    const source = () => latest.current()
    sources.add(source)
    announce()
    return () => {
      sources.delete(source)
      announce()
    }
  }, [isOffered])
}

let known: readonly PaletteAction[] | undefined
const announce = () => {
  known = undefined
  for (const listener of listeners) listener()
}

/** The actions of the page in view, one for each label. For `useSyncExternalStore`. */
export const pageActions = {
  read: (): readonly PaletteAction[] => {
    if (known) return known
    const actions = new Map<string, PaletteAction>()
    for (const source of sources) for (const action of source()) actions.set(action.label, action)
    known = [...actions.values()]
    return known
  },
  subscribe: (listener: () => void): (() => void) => {
    // Whether a button is visible may have changed without a render.
    known = undefined
    listeners.add(listener)
    return () => void listeners.delete(listener)
  },
}

/** Group of the palette's actions; null outside `PageActions`. */
const Group = createContext<{ group?: string } | null>(null)

interface PageActionsProps extends ComponentProps<'div'> {
  group?: string
}

/** Buttons and menus in it are also actions of the command palette. */
export const PageActions = ({ group, children, ...rest }: PageActionsProps) => (
  <div data-page-actions {...rest}>
    <Group value={useMemo(() => (group === undefined ? {} : { group }), [group])}>{children}</Group>
  </div>
)

/** For anything that opens over the page, and for menu buttons. */
export const NoPageActions = ({ children }: { children: ReactNode }) => <Group value={null}>{children}</Group>

export const useActionGroup = (): { group?: string } | null => use(Group)

/** Returns a ref for a button that the palette offers if it is among the page's actions. */
export const useOfferedButton = <Element extends HTMLElement>(
  { icon, disabledReason }: Pick<PaletteAction, 'icon' | 'disabledReason'>,
  ref: Ref<Element> | undefined,
) => {
  const offered = useActionGroup()
  const element = useRef<Element | null>(null)
  usePaletteActions(() => {
    const button = element.current
    if (!button?.checkVisibility()) return []
    const name = button.getAttribute('aria-label') ?? button.textContent ?? ''
    const label = (disabledReason ? name.replace(`: ${disabledReason}`, '') : name).trim()
    const opensMore = button.getAttribute('aria-haspopup') !== null ? ' …' : ''
    const run = () => {
      // A dialog that opens returns the focus here.
      button.focus()
      button.click()
    }
    return [{ ...offered, label: label + opensMore, icon, disabledReason, run }]
  }, offered !== null)
  return useCallback(
    (node: Element | null) => {
      element.current = node
      if (typeof ref === 'function') return ref(node)
      if (ref) ref.current = node
    },
    [ref],
  )
}
