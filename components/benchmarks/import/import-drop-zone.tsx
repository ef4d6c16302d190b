'use client'
import { Upload } from 'lucide-react'
import { useEffect, useEffectEvent, useState } from 'react'

export const ImportDropZone = ({ onFile }: { onFile: (file: File) => void }) => {
  const [isOver, setIsOver] = useState(false)
  const over = useEffectEvent((event: DragEvent) => {
    if (!event.dataTransfer?.types.includes('Files')) return
    event.preventDefault()
    event.dataTransfer.dropEffect = 'copy'
    setIsOver(true)
  })
  const leave = useEffectEvent((event: DragEvent) => {
    if (event.relatedTarget === null) setIsOver(false)
  })
  const drop = useEffectEvent((event: DragEvent) => {
    const [file] = event.dataTransfer?.files ?? []
    setIsOver(false)
    if (!file) return
    event.preventDefault()
    onFile(file)
  })
  useEffect(() => {
    const listening = new AbortController()
    const { signal } = listening
    document.addEventListener('dragover', (event) => over(event), { signal })
    document.addEventListener('dragleave', (event) => leave(event), { signal })
    document.addEventListener('drop', (event) => drop(event), { signal })
    return () => listening.abort()
  }, [])
  return (
    isOver && (
      <div className="pointer-events-none fixed inset-0 z-40 flex items-center justify-center border-2 border-dashed border-accent bg-scrim">
        <p className="flex items-center gap-2 rounded-md bg-overlay px-3 py-2 text-lg font-medium shadow-overlay">
          <Upload aria-hidden className="size-4 shrink-0" />
          Drop a job zip to import it
        </p>
      </div>
    )
  )
}
