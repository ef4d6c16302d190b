'use client'
import dynamic from 'next/dynamic'
import { useSyncExternalStore } from 'react'
import { namePrompt, ownName } from './own-name.ts'

const NameDialog = dynamic(async () => (await import('./name-dialog.tsx')).NameDialog)

/** Asks for a name before the first action that other people see. */
export const NamePrompt = () => {
  const act = useSyncExternalStore(ownName.subscribe, namePrompt.read, () => null)
  return act && <NameDialog act={act} />
}
