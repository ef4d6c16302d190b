export type { LucideIcon as Icon } from 'lucide-react'
