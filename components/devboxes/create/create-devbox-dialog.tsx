'use client'
import { zodResolver } from '@hookform/resolvers/zod'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useEffect, useRef } from 'react'
import { FormProvider, useForm, useWatch } from 'react-hook-form'
import { CopySamples } from '#components/layout/code-samples.tsx'
import { sessionQueries } from '#components/layout/session-queries.ts'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { toast } from '#components/ui/toast.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { type CodeSamples, samplesOf } from '#lib/browser/api/code-samples.ts'
import type { Blueprint } from '#lib/contract/blueprints.ts'
import type { Devbox, DevboxCreate } from '#lib/contract/devboxes.ts'
import type { Snapshot } from '#lib/contract/snapshots.ts'
import { devboxMutations } from '../queries.ts'
import { FormText } from './form-fields.tsx'
import {
  DevboxForm,
  type DevboxFormValues,
  emptyValues,
  fieldOfPath,
  formValuesLike,
  type MountRow,
} from './form-schema.ts'
import {
  EnvironmentFields,
  LifetimeFields,
  MoreLaunchFields,
  NetworkFields,
  SourceFields,
  StartFields,
  TemplateFields,
} from './form-sections.tsx'
import { MountFields } from './mount-fields.tsx'
import { ProxyFields } from './proxy-fields.tsx'

export interface CreateDevboxDialogProps {
  open: boolean
  onOpenChange: (open: boolean) => void
  snapshot?: Pick<Snapshot, 'id' | 'name'>
  blueprint?: Pick<Blueprint, 'id' | 'name'>
  like?: Devbox
  /** An object or agent to mount. */
  mount?: MountRow
}

/** Keeps its values when it is closed or the request fails, until a devbox is created. */
export const CreateDevboxDialog = ({
  open,
  onOpenChange,
  snapshot,
  blueprint,
  like,
  mount,
}: CreateDevboxDialogProps) => {
  const router = useRouter()
  const form = useForm<DevboxFormValues, unknown, DevboxCreate>({
    resolver: zodResolver(DevboxForm),
    defaultValues: like
      ? formValuesLike(like)
      : {
          ...emptyValues,
          ...(snapshot && { source: 'snapshot', snapshot: snapshot.id }),
          ...(blueprint && { source: 'blueprint', blueprint: blueprint.id }),
          ...(mount && { mounts: [mount] }),
        },
  })
  const create = useMutation(devboxMutations.create())
  const isOpen = useRef(open)
  useEffect(() => {
    isOpen.current = open
  }, [open])
  const failedField = create.error ? fieldOfPath(problemOf(create.error).field ?? '') : undefined
  const submit = form.handleSubmit((body) =>
    create.mutate(body, {
      onError: (error) => {
        const { field, message } = problemOf(error)
        const name = fieldOfPath(field ?? '')
        if (name) form.setError(name, { message })
      },
      onSuccess: ({ id }) => {
        form.reset(emptyValues)
        const openTerminal = () => router.push(paths.devbox(id, 'terminal'))
        // After closing the dialog, the user may be on another page.
        if (!isOpen.current)
          return void toast.ok('Devbox created', { action: { label: 'Open terminal', onClick: openTerminal } })
        onOpenChange(false)
        openTerminal()
      },
    }),
  )
  return (
    <FormDialog
      open={open}
      onOpenChange={onOpenChange}
      title="Create devbox"
      description={<Description snapshot={snapshot} blueprint={blueprint} like={like} />}
      busy={create.isPending}
      onSubmit={() => void submit()}
      needs="devboxes.create"
      submitLabel="Create devbox"
      error={failedField === undefined ? create.error : null}
    >
      <FormProvider {...form}>
        <FormText name="name" label="Name" optional placeholder="web-worker" />
        <SourceFields />
        <EnvironmentFields />
        <StartFields />
        <MountFields />
        <LifetimeFields />
        <NetworkFields />
        <ProxyFields />
        <MoreLaunchFields />
        <RequestTools />
      </FormProvider>
    </FormDialog>
  )
}

const Description = ({
  snapshot,
  blueprint,
  like,
}: Pick<CreateDevboxDialogProps, 'snapshot' | 'blueprint' | 'like'>) => {
  if (like)
    return (
      <>
        Copy of <VisibleText max={80}>{like.name || like.id}</VisibleText>, except environment variables, secrets,
        entrypoint and files, which the API doesn't return.
      </>
    )
  if (blueprint)
    return (
      <>
        From blueprint <VisibleText max={80}>{blueprint.name}</VisibleText>
      </>
    )
  if (snapshot)
    return (
      <>
        From snapshot <VisibleText max={80}>{snapshot.name || snapshot.id}</VisibleText>
      </>
    )
  return 'An isolated machine with a disk and a shell. All fields are optional.'
}

const RequestTools = () => {
  const { data: session } = useQuery(sessionQueries.get())
  const request = DevboxForm.safeParse(useWatch<DevboxFormValues>())
  const body = request.success ? request.data : undefined
  const serviceUrl = session?.service.url ?? ''
  const disabledReason = body ? null : 'fix the errors first'
  return (
    <>
      <TemplateFields body={body} />
      <CopySamples disabledReason={disabledReason} samples={() => createDevboxSamples(body ?? {}, serviceUrl)} />
    </>
  )
}

export const createDevboxSamples = (body: DevboxCreate, serviceUrl: string): CodeSamples =>
  samplesOf({ path: '/v1/devboxes', method: 'devboxes.createAndAwaitRunning', body, result: 'devbox' }, serviceUrl)
