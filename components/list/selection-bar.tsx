'use client'
import { type LucideIcon, Square, X } from 'lucide-react'
import { type ReactNode, useRef, useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount } from '#lib/console/frame/format.ts'
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
  rows,
  actions,
  onClear,
  children,
}: SelectionBarProps<Row>) => {
  const [asking, setAsking] = useState<{ action: RowAction<Row>; rows: readonly Row[] }>()
  const [underWay, setUnderWay] = useState<{ verb: string; behind: number; of: number }>()
  const isStopped = useRef(false)
  const countOf = ({ length }: readonly Row[]) => `${formatCount(length)} ${length === 1 ? noun : nouns}`
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
    <section
      aria-label={`Selected ${nouns}`}
      className="animate-appear sticky bottom-3 z-10 mx-auto mt-3 flex w-fit max-w-full flex-wrap items-center gap-1 rounded-md bg-overlay py-1 pr-1 pl-3 shadow-overlay"
    >
      <p role="status" className="tabular mr-2 font-medium">
        {underWay ? `${underWay.verb}: ${underWay.behind} of ${underWay.of}` : `${formatCount(rows.length)} selected`}
      </p>
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
                {verb} {formatCount(eligible.length)}
              </Button>
            )
          })}
        </>
      )}
      <Button size="sm" variant="ghost" icon={X} onClick={onClear}>
        Clear selection
      </Button>
      {asking && (
        <ConfirmDialog
          open
          onOpenChange={(isOpen) => !isOpen && setAsking(undefined)}
          title={`${asking.action.verb} ${countOf(asking.rows)}?`}
          consequence={
            <>
              <ul className="font-medium">
                {asking.rows.slice(0, mostNamed).map(({ id, name }) => (
                  <li key={id}>
                    <VisibleText max={120}>{name || id}</VisibleText>
                  </li>
                ))}
                {asking.rows.length > mostNamed && <li>and {formatCount(asking.rows.length - mostNamed)} more</li>}
              </ul>
              <p>{asking.action.consequence?.(countOf(asking.rows))}</p>
              {asking.rows.length < rows.length && (
                <p>
                  {formatCount(rows.length - asking.rows.length)} of the {formatCount(rows.length)} selected: in no
                  state for it, left as they are.
                </p>
              )}
            </>
          }
          confirmLabel={`${asking.action.verb} ${countOf(asking.rows)}`}
          tone={asking.action.isFinal ? 'danger' : 'primary'}
          onConfirm={() => {
            setAsking(undefined)
            void start(asking.action, asking.rows)
          }}
        />
      )}
    </section>
  )
}
