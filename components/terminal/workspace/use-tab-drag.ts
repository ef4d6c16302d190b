import { type DragEvent, useState } from 'react'

/** Reorders tabs by drag and drop. Returns the props for each tab. */
export const useTabDrag = (move: (from: number, to: number) => void) => {
  const [dragged, setDragged] = useState<{ from: number; to: number }>()
  return (index: number, key: string) => ({
    onDragStart: ({ dataTransfer }: DragEvent) => {
      dataTransfer.effectAllowed = 'move'
      // Some browsers require data.
      dataTransfer.setData('application/x-devdeck-terminal-tab', key)
      setDragged({ from: index, to: index })
    },
    onDragOver: (event: DragEvent) => {
      if (!dragged) return
      event.preventDefault()
      if (dragged.to !== index) setDragged({ ...dragged, to: index })
    },
    onDrop: (event: DragEvent) => {
      if (!dragged) return
      event.preventDefault()
      // `dragged.to` may not be up to date yet.
      if (dragged.from !== index) move(dragged.from, index)
      setDragged(undefined)
    },
    onDragEnd: () => setDragged(undefined),
    look: dragged && dragClass(dragged, index),
  })
}

const dragClass = ({ from, to }: { from: number; to: number }, index: number): string | undefined => {
  if (index === from) return 'opacity-50'
  if (index !== to) return undefined
  return from > to ? 'shadow-[inset_2px_0_var(--accent)]' : 'shadow-[inset_-2px_0_var(--accent)]'
}
