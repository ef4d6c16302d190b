'use client'
import { type ReactNode, useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { DropdownMenu } from '#components/ui/dropdown-menu.tsx'
import { loadOnUse } from '#components/ui/overlay/load-on-use.tsx'
import type { ListSource, ListView } from '#lib/browser/lists/list-source.ts'
import type { AskedOfList, ListToolsProps } from './list-tools.tsx'

// What only a press asks for comes when the pointer or the focus is near.
const tools = () => import('./list-tools.tsx')
const ListDialogs = loadOnUse(async () => (await tools()).ListDialogs)

interface ListMenusProps<View extends ListView, Page, Param, Row extends { id: string }>
  extends Omit<ListToolsProps<View, Row>, 'source'> {
  source: ListSource<View, Page, Param, Row>
  /** After the menus. */
  children?: ReactNode
}

const menus = ['Export', 'Copy as', 'Views'] as const

/** What can be done with any list: choosing its columns, taking its rows away, copying it as a call, naming it as it is. */
export const ListMenus = <View extends ListView, Page, Param, Row extends { id: string }>({
  children,
  ...rest
}: ListMenusProps<View, Page, Param, Row>) => {
  const list = rest as unknown as ListToolsProps<ListView, { id: string }>
  const [loaded, setLoaded] = useState<Awaited<ReturnType<typeof tools>>>()
  const [asked, setAsked] = useState<AskedOfList>()
  // Where the code cannot be loaded, the dialogs say so.
  const load = () => void tools().then(setLoaded, () => setAsked({ what: 'nothing' }))
  const near = { onPointerEnter: load, onFocus: load }
  return (
    <div {...near} data-page-actions className="ml-auto flex flex-wrap items-center justify-end gap-1">
      <Button size="sm" variant="ghost" onClick={() => setAsked({ what: 'columns' })}>
        Columns
      </Button>
      {menus.map((word) => (
        <DropdownMenu
          key={word}
          label={word}
          trigger={
            <Button size="sm" variant="ghost">
              {word}
            </Button>
          }
          items={loaded?.menuItems(word, list, setAsked)}
        />
      ))}
      {children}
      {asked && <ListDialogs {...list} asked={asked} onClose={() => setAsked(undefined)} />}
    </div>
  )
}
