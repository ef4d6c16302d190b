'use client'
import { useMutation } from '@tanstack/react-query'
import { Ban, Tag, X } from 'lucide-react'
import { useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { toast } from '#components/ui/toast.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import type { Label } from '#lib/protocol/marks.ts'
import type { AttemptMark } from './attempt-marks.ts'
import { ExcludeDialog } from './exclude-dialog.tsx'
import { ExclusionText, RestoreButton } from './exclusion-strip.tsx'
import { LabelDialog } from './label-dialog.tsx'
import { markMutations } from './queries.ts'

interface MarkActionsProps {
  jobId: string
  mark: AttemptMark
  name: string
  agent: string
  used: readonly string[]
}

export const MarkActions = ({ jobId, mark, name, agent, used }: MarkActionsProps) => {
  const [dialog, setDialog] = useState<'exclude' | 'label' | null>(null)
  const { scenario_id, attempt_id, position } = mark
  const close = () => setDialog(null)
  const scopes = [
    { label: 'The scenario, for all agents', items: [{ scenario_id, attempt_id: null }] },
    { label: `Only attempt ${position} of ${agent.slice(0, 80)}`, items: [{ scenario_id, attempt_id }] },
  ]
  const isScenarioExcluded = mark.exclusions.some((each) => each.attempt_id === null)
  return (
    <>
      <Button
        size="sm"
        icon={Ban}
        needs="/api/judgment"
        disabledReason={isScenarioExcluded ? 'The scenario is excluded for all agents' : null}
        onClick={() => setDialog('exclude')}
      >
        Exclude…
      </Button>
      <Button size="sm" icon={Tag} needs="/api/judgment" onClick={() => setDialog('label')}>
        Label…
      </Button>
      {dialog === 'exclude' && (
        <ExcludeDialog jobId={jobId} title={`Exclude ${name.slice(0, 120)}`} scopes={scopes} onClose={close} />
      )}
      {dialog === 'label' && (
        <LabelDialog
          jobId={jobId}
          title={`Label attempt ${position} of ${agent.slice(0, 80)}`}
          items={[mark]}
          used={used}
          onClose={close}
        />
      )}
    </>
  )
}

export const MarkFacts = ({ mark: { exclusions, labels, isExcluded } }: { mark: AttemptMark }) => (
  <>
    {exclusions.length > 0 && (
      <ul aria-label="Exclusions of this attempt" className="space-y-1">
        {exclusions.map((each) => (
          <li key={each.id} className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <div className="min-w-0 flex-1 basis-60">
              <p>
                {each.attempt_id === null ? 'Scenario excluded for all agents' : 'Attempt excluded'}
                {!isExcluded && ', but counted in the figures shown'}
              </p>
              <ExclusionText exclusion={each} />
            </div>
            <RestoreButton exclusion={each} />
          </li>
        ))}
      </ul>
    )}
    {labels.length > 0 && (
      <ul aria-label="Labels of this attempt" className="space-y-1">
        {labels.map((each) => (
          <LabelLine key={each.id} label={each} />
        ))}
      </ul>
    )}
  </>
)

const LabelLine = ({ label: { id, label, note, by, at_ms } }: { label: Label }) => {
  const remove = useMutation(markMutations.unlabel())
  return (
    <li className="flex items-center gap-2">
      <Tag aria-hidden className="size-3.5 shrink-0 text-muted" />
      <p className="min-w-0 flex-1">
        <VisibleText max={60} className="font-medium">
          {label}
        </VisibleText>{' '}
        <span className="text-sm text-muted">
          by <VisibleText max={80}>{by}</VisibleText>, <RelativeTime ms={at_ms} />
          {note && ': '}
          {note && <VisibleText max={1000}>{note}</VisibleText>}
        </span>
      </p>
      <IconButton
        size="sm"
        icon={X}
        label={`Remove label ${label}`}
        needs="/api/judgment"
        disabledReason={remove.isPending ? 'The label is being removed' : null}
        onClick={() => remove.mutate(id, { onError: toast.failed("Couldn't remove the label") })}
      />
    </li>
  )
}
