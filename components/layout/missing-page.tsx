'use client'
import { SearchX } from 'lucide-react'
import dynamic from 'next/dynamic'
import { ButtonLink } from '#components/ui/button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { paths } from '#lib/browser/address/paths.ts'

// Next includes this page in every page of its folder, so the search reads `location`.
const AddressSearch = dynamic(async () => (await import('./address-search.tsx')).AddressSearch, { ssr: false })

const elsewhere = 'It may belong to another account, or the address may be mistyped.'

const records = {
  alert: {
    noun: 'alert',
    list: { href: paths.evictionHistory(), label: 'Eviction history' },
    hint: 'It may belong to another account or console, or have been removed from the history.',
  },
  axon: {
    noun: 'axon',
    list: { href: paths.axons(), label: 'All axons' },
    hint: 'It may belong to another account, or the address may be mistyped. Deleted axons stay readable.',
  },
  devbox: {
    noun: 'devbox',
    list: { href: paths.devboxes(), label: 'All devboxes' },
    hint: 'It may belong to another account, or the address may be mistyped. Ended devboxes stay readable.',
  },
  blueprint: {
    noun: 'blueprint',
    list: { href: paths.blueprints(), label: 'All blueprints' },
    hint: 'It may have been deleted, it may belong to another account, or the address may be mistyped.',
  },
  job: { noun: 'benchmark job', list: { href: paths.benchmarkJobs(), label: 'All jobs' }, hint: elsewhere },
  run: { noun: 'benchmark run', list: { href: paths.benchmarkRuns(), label: 'All runs' }, hint: elsewhere },
  scenario: { noun: 'scenario', list: { href: paths.scenarios(), label: 'All scenarios' }, hint: elsewhere },
  recording: {
    noun: 'recording',
    list: { href: paths.recordings(), label: 'All recordings' },
    hint: 'It may have been deleted, it may belong to another account, or the address may be mistyped.',
  },
} as const

export type RecordKind = keyof typeof records

export const recordOf = (kind: RecordKind) => records[kind]

export const MissingPage = ({ kind }: { kind: RecordKind }) => {
  const { noun, list, hint } = records[kind]
  return (
    <>
      <EmptyState
        icon={SearchX}
        title={`No ${noun} with this ID`}
        titleAs="h1"
        action={<ButtonLink href={list.href}>{list.label}</ButtonLink>}
      >
        {hint}
      </EmptyState>
      <div className="flex justify-center px-4">
        <AddressSearch />
      </div>
    </>
  )
}
