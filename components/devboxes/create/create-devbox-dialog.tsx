'use client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Terminal } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { useEffect, useRef, useState } from 'react'
import { devboxMutations } from '#components/devboxes/queries.ts'
import { sessionQueries } from '#components/layout/session-queries.ts'
import { CopyButton } from '#components/ui/copy-button.tsx'
import { TextField } from '#components/ui/field.tsx'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { toast } from '#components/ui/toast.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import type { Devbox } from '#lib/contract/devboxes.ts'
import type { Snapshot } from '#lib/contract/snapshots.ts'
import { createDevboxCurl, createDevboxTypeScript } from './create-devbox-calls.ts'
import {
  type DevboxDraft,
  type DraftProblems,
  draftFieldOf,
  draftLike,
  draftOf,
  emptyDraft,
  readDraft,
} from './devbox-draft.ts'
import { LifetimeFields } from './lifetime-fields.tsx'
import { NetworkFields } from './network-fields.tsx'
import { SourceFields } from './source-fields.tsx'
import { EnvironmentFields, StartFields } from './start-fields.tsx'
import { TemplateFields } from './template-fields.tsx'

export interface CreateDevboxDialogProps {
  open: boolean
  onOpenChange: (open: boolean) => void
  /** Whose disk the devbox starts with. */
  snapshot?: Pick<Snapshot, 'id' | 'name'>
  /** What it is made with at first, as far as this one tells. */
  like?: Devbox
}

/** What was typed stays when the dialog is closed or the service refuses; a devbox that was created clears it. */
export const CreateDevboxDialog = ({ open, onOpenChange, snapshot, like }: CreateDevboxDialogProps) => {
  const router = useRouter()
  const [draft, setDraft] = useState<DevboxDraft>(() =>
    like ? draftLike(like) : snapshot ? { ...emptyDraft, source: 'snapshot', snapshot: snapshot.id } : emptyDraft,
  )
  const [problems, setProblems] = useState<DraftProblems>({})
  const create = useMutation(devboxMutations.create())
  const { data: session } = useQuery(sessionQueries.get())
  const isOpen = useRef(open)
  useEffect(() => {
    isOpen.current = open
  }, [open])
  const refused = create.error ? draftFieldOf(problemOf(create.error).field ?? '') : undefined
  const errorAt = (field: keyof DevboxDraft) =>
    problems[field] ?? (refused === field ? problemOf(create.error).message : null)
  const edit = (part: Partial<DevboxDraft>) => setDraft({ ...draft, ...part })
  const submit = () => {
    const read = readDraft(draft)
    setProblems(read.problems)
    if (!read.body) return
    create.mutate(read.body, {
      onSuccess: ({ id }) => {
        setDraft(emptyDraft)
        const go = () => router.push(paths.devbox(id, 'terminal'))
        // A person who stopped waiting is on another page by now.
        if (!isOpen.current)
          return void toast.ok('The devbox was created', { action: { label: 'Open its terminal', onClick: go } })
        onOpenChange(false)
        go()
      },
    })
  }
  const { body } = readDraft(draft)
  const callRefusal = body ? null : 'a field has to be mended first'
  const serviceUrl = session?.service.url ?? ''
  const fields = { draft, edit, errorAt }
  return (
    <FormDialog
      open={open}
      onOpenChange={onOpenChange}
      title="Create devbox"
      description={<Description snapshot={snapshot} like={like} />}
      busy={create.isPending}
      onSubmit={submit}
      submitLabel="Create devbox"
      error={refused === undefined ? create.error : null}
    >
      <TextField
        label="Name"
        optional
        error={errorAt('name')}
        value={draft.name}
        placeholder="web-worker"
        onText={(text) => edit({ name: text })}
      />
      <SourceFields {...fields} />
      <EnvironmentFields {...fields} />
      <StartFields {...fields} />
      <LifetimeFields {...fields} />
      <NetworkFields {...fields} />
      <TemplateFields body={body} onChoose={(template) => setDraft(draftOf(template))} />
      <div className="flex flex-wrap items-center gap-1">
        <CopyButton
          what="as curl"
          icon={Terminal}
          disabledReason={callRefusal}
          text={() => createDevboxCurl(body ?? {}, serviceUrl)}
        />
        <CopyButton
          what="as TypeScript"
          icon={Terminal}
          disabledReason={callRefusal}
          text={() => createDevboxTypeScript(body ?? {}, serviceUrl)}
        />
      </div>
    </FormDialog>
  )
}

const Description = ({ snapshot, like }: Pick<CreateDevboxDialogProps, 'snapshot' | 'like'>) => {
  if (like)
    return (
      <>
        As <VisibleText max={80}>{like.name || like.id}</VisibleText> was made, but for environment, secrets, entrypoint
        and files, which the service does not tell.
      </>
    )
  if (snapshot)
    return (
      <>
        From snapshot <VisibleText max={80}>{snapshot.name || snapshot.id}</VisibleText>, with the disk as it was then.
      </>
    )
  return 'An isolated machine with a disk and a shell. Every field may stay as it is.'
}
