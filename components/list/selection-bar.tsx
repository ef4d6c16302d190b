'use client'
import { type LucideIcon, Square, X } from 'lucide-react'
import { type ReactNode, useRef, useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { counted, formatCount } from '#lib/browser/format.ts'
import { actOnEach } from './act-on-each.ts'

export interface RowAction<Row> {
  icon: LucideIcon
  verb: string
  done: string
  failed: string
  /** What it costs, for actions that ask first. */
  consequence?: (count: string) => string
  /** What it takes away does not come back. */
  isFinal?: boolean
  isEligible: (row: Row) => boolean
  act: (row: Row) => Promise<unknown>
}

interface Named {
  id: string
  name?: string | null | undefined
}

interface SelectionBarProps<Row> {
  /** What a row is and what they are, in lower case: `devbox`, `devboxes`. */
  noun: string
  nouns: string
  /** As many of them: `{count} devbox`, `{count} devboxes`. */
  counts: readonly [one: string, many: string]
  rows: readonly Row[]
  actions: readonly RowAction<Row>[]
  onClear: () => void
  /** What is done with all of them together. */
  children?: ReactNode
}

/** Names that a question lists before it only counts. */
const mostNamed = 5

/**
 * What can be done to the rows that are selected: each action with the number of those whose state allows it, one
 * question, one after the other, and one summary.
 */
export const SelectionBar = <Row extends Named>({
  noun,
  nouns,
  counts,
  rows,
  actions,
  onClear,
  children,
}: SelectionBarProps<Row>) => {
  const [asking, setAsking] = useState<{ action: RowAction<Row>; rows: readonly Row[] }>()
  const [underWay, setUnderWay] = useState<{ verb: string; behind: number; of: number }>()
  const isStopped = useRef(false)
  const countOf = ({ length }: readonly Row[]) => counted(length, ...counts)
  const verbOf = (action: RowAction<Row>, on: readonly Row[]) => `${action.verb} ${countOf(on)}`
  const start = async (action: RowAction<Row>, on: readonly Row[]) => {
    isStopped.current = false
    const onNext = (behind: number) => {
      setUnderWay({ verb: action.verb, behind, of: on.length })
      return !isStopped.current
    }
    await actOnEach(action, on, action.act, onNext)
    setUnderWay(undefined)
  }
  return (
    <BulkBar
      label={`Selected ${nouns}`}
      status={
        underWay
          ? `${underWay.verb}: ${`${underWay.behind} of ${underWay.of}`}`
          : `${formatCount(rows.length)} selected`
      }
      onClear={onClear}
    >
      {underWay ? (
        <Button
          size="sm"
          icon={Square}
          onClick={() => {
            isStopped.current = true
          }}
        >
          Stop after this one
        </Button>
      ) : (
        <>
          {children}
          {actions.map((action) => {
            const { icon, verb, consequence, isEligible } = action
            const eligible = rows.filter(isEligible)
            return (
              <Button
                key={verb}
                size="sm"
                icon={icon}
                disabledReason={eligible.length === 0 ? `No ${noun} of these is in a state for it` : null}
                onClick={() => (consequence ? setAsking({ action, rows: eligible }) : void start(action, eligible))}
              >
                {`${verb} ${formatCount(eligible.length)}`}
              </Button>
            )
          })}
        </>
      )}
      {asking && (
        <ConfirmDialog
          open
          onOpenChange={(isOpen) => !isOpen && setAsking(undefined)}
          title={`${verbOf(asking.action, asking.rows)}?`}
          consequence={
            <>
              <ul className="font-medium">
                {asking.rows.slice(0, mostNamed).map(({ id, name }) => (
                  <li key={id}>
                    <VisibleText max={120}>{name || id}</VisibleText>
                  </li>
                ))}
                {asking.rows.length > mostNamed && <li>{`and ${formatCount(asking.rows.length - mostNamed)} more`}</li>}
              </ul>
              <p>{asking.action.consequence?.(countOf(asking.rows))}</p>
              {asking.rows.length < rows.length && (
                <p>
                  {`${formatCount(rows.length - asking.rows.length)} of the ${formatCount(rows.length)} selected: in no state for it, left as they are.`}
                </p>
              )}
            </>
          }
          cancelLabel="Keep it as it is"
          confirmLabel={verbOf(asking.action, asking.rows)}
          tone={asking.action.isFinal ? 'danger' : 'primary'}
          onConfirm={() => {
            setAsking(undefined)
            void start(asking.action, asking.rows)
          }}
        />
      )}
    </BulkBar>
  )
}

interface BulkBarProps {
  label: string
  status: string
  onClear: () => void
  children: ReactNode
}

/** Stays at the lower edge of the screen; on a phone over its whole width, with targets for a thumb. */
export const BulkBar = ({ label, status, onClear, children }: BulkBarProps) => (
  <section
    aria-label={label}
    data-bulk-bar
    className="animate-appear fixed inset-x-2 bottom-2 z-10 flex flex-wrap items-center gap-1 rounded-md bg-overlay p-1 shadow-overlay max-sm:mb-[env(safe-area-inset-bottom)] max-sm:[&_button]:h-11 sm:sticky sm:bottom-3 sm:mx-auto sm:mt-3 sm:w-fit sm:max-w-full"
  >
    <p role="status" className="tabular mr-2 ml-2 font-medium max-sm:grow">
      {status}
    </p>
    <Button size="sm" variant="ghost" icon={X} onClick={onClear} className="sm:order-last">
      Clear selection
    </Button>
    <div className="flex basis-full flex-wrap gap-1 max-sm:*:grow sm:contents">{children}</div>
  </section>
)
