'use client'
import { useMutation } from '@tanstack/react-query'
import { ChevronDown, Plus } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { DropdownMenu, type MenuItem } from '#components/ui/dropdown-menu.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { useRefusal } from '#components/ui/refusals.ts'
import { toast } from '#components/ui/toast.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { browserStore } from '#lib/browser/frame/saved-list.ts'
import type { DevboxCreate } from '#lib/contract/devboxes.ts'
import { resourcesOf } from '#lib/contract/launch-parameters.ts'
import { devboxMutations } from '../queries.ts'
import { presets } from './presets.ts'
import { readTemplates } from './templates.ts'

const CreateDevboxDialog = dynamic(async () => (await import('./create-devbox-dialog.tsx')).CreateDevboxDialog)

interface CreateDevboxButtonProps {
  onOpenForm: () => void
}

/** The button with its own form, for pages that have only one. */
export const CreateDevbox = () => {
  // Undefined until the dialog is first opened; after that it stays mounted and keeps what was typed.
  const [isCreating, setIsCreating] = useState<boolean>()
  return (
    <>
      <CreateDevboxButton onOpenForm={() => setIsCreating(true)} />
      {isCreating !== undefined && <CreateDevboxDialog open={isCreating} onOpenChange={setIsCreating} />}
    </>
  )
}

/** Opens the form, or creates a devbox from a preset or a template at once. */
export const CreateDevboxButton = ({ onOpenForm }: CreateDevboxButtonProps) => {
  const router = useRouter()
  const create = useMutation(devboxMutations.create())
  const isRefused = useRefusal('devboxes.create') !== null
  const [templates, setTemplates] = useState<ReturnType<typeof readTemplates>>([])
  const start = (name: string, body: DevboxCreate) =>
    create.mutate(body, {
      onSuccess: ({ id }) => router.push(paths.devbox(id, 'terminal')),
      onError: (error) => void toast.danger(`Couldn't create a devbox from ${name}: ${problemOf(error).message}`),
    })
  const itemOf = ({ name, body }: { name: string; body: DevboxCreate }): MenuItem => ({
    label: name,
    hint: sizeText(body),
    onSelect: () => start(name, body),
  })
  const items: MenuItem[] = [
    { heading: 'Create now' },
    ...presets.map(itemOf),
    ...(templates.length > 0 ? (['separator', { heading: 'Templates' }] as const) : []),
    ...templates.map(itemOf),
  ]
  return (
    <span className="inline-flex">
      <Button
        variant="primary"
        icon={Plus}
        needs="devboxes.create"
        busy={create.isPending}
        onClick={onOpenForm}
        className={isRefused ? undefined : 'rounded-r-none'}
      >
        Create devbox
      </Button>
      {!isRefused && (
        <DropdownMenu
          label="Create devbox from a preset"
          items={items}
          onOpenChange={(isOpen) => isOpen && setTemplates(readTemplates(browserStore()))}
          trigger={
            <Button
              variant="primary"
              icon={ChevronDown}
              busy={create.isPending}
              aria-label="Create devbox from a preset"
              className="rounded-l-none border-l border-l-(--surface-0) px-1.5"
            />
          }
        />
      )}
    </span>
  )
}

/** Undefined for the default size, which services choose. */
const sizeText = ({ launch_parameters: launch }: DevboxCreate): string | undefined => {
  if (!launch?.resource_size_request) return undefined
  const { cpuCores, memoryGb, diskGb } = resourcesOf(launch)
  return `${cpuCores} CPU, ${memoryGb} GB, ${diskGb} GB disk`
}
