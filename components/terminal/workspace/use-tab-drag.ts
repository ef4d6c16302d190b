import { type DragEvent, useState } from 'react'

/** Lets tabs be dragged to another place. Answers what the element of each tab is given for that. */
export const useTabDrag = (move: (from: number, to: number) => void) => {
  const [dragged, setDragged] = useState<{ from: number; to: number }>()
  return (index: number, key: string) => ({
    onDragStart: ({ dataTransfer }: DragEvent) => {
      dataTransfer.effectAllowed = 'move'
      // Some browsers drag nothing that carries no data.
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
      // Where it is dropped, which may not have been drawn as the place yet.
      if (dragged.from !== index) move(dragged.from, index)
      setDragged(undefined)
    },
    onDragEnd: () => setDragged(undefined),
    look: dragged && lookOf(dragged, index),
  })
}

/** The dragged tab is faint; the one it would be dropped on has a line on the side it would come to. */
const lookOf = ({ from, to }: { from: number; to: number }, index: number): string | undefined => {
  if (index === from) return 'opacity-50'
  if (index !== to) return undefined
  return from > to ? 'shadow-[inset_2px_0_var(--accent)]' : 'shadow-[inset_-2px_0_var(--accent)]'
}
