'use client'
import { type LucideIcon, Square, X } from 'lucide-react'
import { type ReactNode, useRef, useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { PageActions } from '#components/ui/page-actions.tsx'
import { toast } from '#components/ui/toast.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount, formatCountOf } from '#lib/browser/format.ts'
import type { Operation } from '#lib/protocol/roles.ts'

export interface BulkAction<Row> {
  icon: LucideIcon
  verb: string
  done: string
  failed: string
  /** Asks for confirmation with this text first. */
  consequence?: (count: string) => string
  isDestructive?: boolean
  needs: Operation
  isEligible: (row: Row) => boolean
  act: (row: Row) => Promise<unknown>
}

interface SelectionBarProps<Row> {
  noun: string
  nouns: string
  rows: readonly Row[]
  actions: readonly BulkAction<Row>[]
  onClear: () => void
  children?: ReactNode
}

const maxNames = 5

/** Bulk actions, each with the number of selected rows it applies to. */
export const SelectionBar = <Row extends { id: string; name?: string | null | undefined }>({
  noun,
  nouns,
  rows,
  actions,
  onClear,
  children,
}: SelectionBarProps<Row>) => {
  const [confirming, setConfirming] = useState<{ action: BulkAction<Row>; rows: readonly Row[] }>()
  const [running, setRunning] = useState<{ verb: string; done: number; total: number }>()
  const isStopped = useRef(false)
  const countOf = ({ length }: readonly Row[]) => formatCountOf(length, noun, nouns)
  const run = async (action: BulkAction<Row>, on: readonly Row[]) => {
    isStopped.current = false
    await actOnEach(action, on, action.act, (done) => {
      setRunning({ verb: action.verb, done, total: on.length })
      return !isStopped.current
    })
    setRunning(undefined)
  }
  return (
    <BulkBar
      label={`Selected ${nouns}`}
      status={
        running
          ? `${running.verb}: ${formatCount(running.done)} of ${formatCount(running.total)}`
          : `${formatCount(rows.length)} selected`
      }
      onClear={onClear}
    >
      {running ? (
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
            const { icon, verb, needs, consequence, isEligible } = action
            const eligible = rows.filter(isEligible)
            return (
              <Button
                key={verb}
                size="sm"
                icon={icon}
                needs={needs}
                disabledReason={eligible.length === 0 ? `Not possible for the selected ${nouns}` : null}
                onClick={() => (consequence ? setConfirming({ action, rows: eligible }) : void run(action, eligible))}
              >
                {`${verb} ${formatCount(eligible.length)}`}
              </Button>
            )
          })}
        </>
      )}
      {confirming && (
        <ConfirmDialog
          open
          onOpenChange={(isOpen) => !isOpen && setConfirming(undefined)}
          title={`${confirming.action.verb} ${countOf(confirming.rows)}?`}
          consequence={
            <>
              <ul className="font-medium">
                {confirming.rows.slice(0, maxNames).map(({ id, name }) => (
                  <li key={id}>
                    <VisibleText max={120}>{name || id}</VisibleText>
                  </li>
                ))}
                {confirming.rows.length > maxNames && (
                  <li>{`and ${formatCount(confirming.rows.length - maxNames)} more`}</li>
                )}
              </ul>
              <p>{confirming.action.consequence?.(countOf(confirming.rows))}</p>
              {confirming.rows.length < rows.length && (
                <p>
                  {`Not possible for ${formatCount(rows.length - confirming.rows.length)} of the ${formatCount(rows.length)} selected, which stay unchanged.`}
                </p>
              )}
            </>
          }
          needs={confirming.action.needs}
          confirmLabel={`${confirming.action.verb} ${countOf(confirming.rows)}`}
          tone={confirming.action.isDestructive ? 'danger' : 'primary'}
          onConfirm={() => {
            setConfirming(undefined)
            void run(confirming.action, confirming.rows)
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

export const BulkBar = ({ label, status, onClear, children }: BulkBarProps) => (
  <section
    aria-label={label}
    data-bulk-bar
    className="animate-appear fixed inset-x-2 bottom-2 z-10 flex flex-wrap items-center gap-1 rounded-md bg-overlay p-1 shadow-overlay max-sm:mb-[env(safe-area-inset-bottom)] max-sm:[&_button]:h-11 sm:sticky sm:bottom-3 sm:mx-auto sm:mt-3 sm:w-fit sm:max-w-full"
  >
    <p role="status" className="tabular mr-2 ml-2 font-medium max-sm:grow">
      {status}
    </p>
    <PageActions group={label} className="contents">
      <div className="flex basis-full flex-wrap gap-1 max-sm:order-last max-sm:*:grow sm:contents">{children}</div>
      <Button size="sm" variant="ghost" icon={X} onClick={onClear}>
        Clear selection
      </Button>
    </PageActions>
  </section>
)

/** Acts on one item after the other and shows one summary. `onNext` returns false to stop. */
const actOnEach = async <Item,>(
  { done, failed }: { done: string; failed: string },
  items: readonly Item[],
  act: (item: Item) => Promise<unknown>,
  onNext: (finished: number) => boolean = () => true,
): Promise<void> => {
  let succeeded = 0
  const errors: unknown[] = []
  for (const item of items) {
    if (!onNext(succeeded + errors.length)) break
    try {
      await act(item)
      succeeded += 1
    } catch (error) {
      errors.push(error)
    }
  }
  const count = items.length === 1 ? '' : ` (${succeeded} of ${items.length})`
  if (errors.length > 0) toast.failed(failed + count)(errors[0])
  else if (succeeded < items.length) toast.info(`${failed}${count}: stopped`)
  else toast.ok(done + count)
}
