'use client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Check } from '#components/ui/choice/check.tsx'
import { CopyButton } from '#components/ui/copy-button.tsx'
import { InlineError } from '#components/ui/error-state.tsx'
import { Field } from '#components/ui/field.tsx'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { Input } from '#components/ui/input.tsx'
import { Select } from '#components/ui/select.tsx'
import { defaultShareDays } from '#lib/protocol/shares.ts'
import { isSameSubject, type Shared, shareMutations, shareQueries } from './queries.ts'
import { ShareLinks } from './share-list.tsx'

const lifetimes = [1, 7, 30, 90, 365].map((days) => ({
  value: `${days}`,
  label: days === 1 ? '1 day' : days === 365 ? '1 year' : `${days} days`,
}))

/** `name`: "report", "comparison" or "trend". */
export const ShareDialog = ({ name, shared, onClose }: { name: string; shared: Shared; onClose: () => void }) => {
  const [days, setDays] = useState(`${defaultShareDays}`)
  const [logs, setLogs] = useState(false)
  const { data, error } = useQuery(shareQueries.list())
  const create = useMutation(shareMutations.create())
  const existing = data?.shares.filter((share) => isSameSubject(share, shared) && share.id !== create.data?.id) ?? []
  return (
    <FormDialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Share ${name}`}
      description="A read-only link that needs no account. It shows the report as it is when opened, with these settings."
      needs="/api/shares"
      submitLabel="Create link"
      cancelLabel="Close"
      busy={create.isPending}
      error={create.error}
      refusal={data && !data.enabled ? 'Share links are turned off on this console' : null}
      onSubmit={() => create.mutate({ ...shared, logs, expires_days: Number(days) })}
    >
      <Field label="Expires after">
        {(field) => (
          <Select {...field} value={days} options={lifetimes} onChange={({ target }) => setDays(target.value)} />
        )}
      </Field>
      <div>
        <Check label="Include log archives" checked={logs} onCheck={setLogs} />
        <p className="text-sm text-muted">Logs aren't masked: they contain whatever the agents printed.</p>
      </div>
      {create.data && (
        <div className="space-y-1" role="status">
          <Field label="Link" hint="Shown only now. Anyone with it can open the report.">
            {(field) => <Input {...field} readOnly value={create.data.url} onFocus={({ target }) => target.select()} />}
          </Field>
          <CopyButton what="link" text={() => create.data.url} />
        </div>
      )}
      {error && !data && <InlineError error={error} />}
      {existing.length > 0 && (
        <div className="space-y-1">
          <p className="font-medium">Existing links</p>
          <ShareLinks shares={existing} label="Existing links" />
        </div>
      )}
    </FormDialog>
  )
}
