'use client'
import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react'

interface PageName {
  shown: { id: string; name: string } | undefined
  show: (shown: PageName['shown']) => void
}

const Context = createContext<PageName>({ shown: undefined, show: () => {} })

/** Lets a page give its record's name to the breadcrumb. */
export const PageNameProvider = ({ children }: { children: ReactNode }) => {
  const [shown, show] = useState<PageName['shown']>()
  return <Context value={useMemo(() => ({ shown, show }), [shown])}>{children}</Context>
}

export const usePageName = (id: string | undefined): string | undefined => {
  const { shown } = useContext(Context)
  return shown?.id === id ? shown?.name : undefined
}

/** Sets the name in the breadcrumb while mounted. Records without a name are shown by id. */
export const useShownName = ({ id, name }: { id?: string; name?: string | null | undefined } = {}) => {
  const { show } = useContext(Context)
  useEffect(() => {
    if (!id || !name) return
    show({ id, name })
    return () => show(undefined)
  }, [id, name, show])
}

/** For pages rendered on the server. */
export const ShownName = (shown: { id: string; name: string }) => {
  useShownName(shown)
  return null
}
