import type { Country, Leaf, Product, Season } from '@startgrid/shared/page/shop/product.ts'

interface PriceFormat {
  decimal: '.' | ','
  before: string
  after: string
}

const ENGLISH: PriceFormat = { decimal: '.', before: '€', after: '' }
const GERMAN: PriceFormat = { decimal: ',', before: '', after: '\u00a0€' }
const FRENCH: PriceFormat = GERMAN

/** The words of the fragment in one language. */
export interface Locale {
  price: PriceFormat
  leaves: Readonly<Record<Leaf, string>>
  countries: Readonly<Record<Country, string>>
  seasons: Readonly<Record<Season, string>>
  labels: Readonly<Record<'leaf' | 'origin' | 'harvest' | 'water' | 'time' | 'price', string>>
  water: (celsius: number) => string
  time: (minutes: number) => string
  per100g: (price: string) => string
  about: string
  brewing: string
  steps: (tea: Product) => readonly string[]
  storage: string
  delivery: string
}

// A no-break space between number and unit (SI brochure, 5.4.3); Americans ask for Fahrenheit.
const celsius = (degrees: number) => `${degrees}\u00a0°C`
const fahrenheit = (degrees: number) => `${Math.round(degrees * 1.8 + 32)}\u00a0°F`
const minutes = (count: number) => `${count}\u00a0min`

const LOCALES: Readonly<Record<string, Locale>> = {
  'en-US': {
    price: ENGLISH,
    leaves: {
      black: 'Black tea',
      green: 'Green tea',
      oolong: 'Oolong',
      white: 'White tea',
      yellow: 'Yellow tea',
    },
    countries: {
      China: 'China',
      India: 'India',
      Japan: 'Japan',
      Kenya: 'Kenya',
      Korea: 'Korea',
      'Sri Lanka': 'Sri Lanka',
      Taiwan: 'Taiwan',
    },
    seasons: { spring: 'Spring', summer: 'Summer', autumn: 'Fall' },
    labels: {
      leaf: 'Leaf',
      origin: 'Origin',
      harvest: 'Harvest',
      water: 'Water',
      time: 'Time',
      price: 'Price',
    },
    water: fahrenheit,
    time: minutes,
    per100g: (price) => `${price} per 3.5 oz`,
    about:
      'From a single garden and a single harvest, never blended or flavored. Every lot is tasted blind against the last one; only when it is at least as good does it keep its name.',
    brewing: 'How to brew it',
    steps: (tea) => [
      'Warm the pot, then empty it.',
      'Use one level teaspoon of leaves per cup.',
      `Pour on fresh water at ${fahrenheit(tea.celsius)} and cover.`,
      `Wait ${tea.minutes} minutes, then take the leaves out. They are good for a second pot.`,
    ],
    storage:
      'Keep it dry, dark and closed, away from coffee and spices. It is at its best for eighteen months.',
    delivery: 'Packed on the day it leaves. Free delivery above €40, returns within 30 days.',
  },
  'de-DE': {
    price: GERMAN,
    leaves: {
      black: 'Schwarztee',
      green: 'Grüntee',
      oolong: 'Oolong',
      white: 'Weißer Tee',
      yellow: 'Gelber Tee',
    },
    countries: {
      China: 'China',
      India: 'Indien',
      Japan: 'Japan',
      Kenya: 'Kenia',
      Korea: 'Korea',
      'Sri Lanka': 'Sri Lanka',
      Taiwan: 'Taiwan',
    },
    seasons: { spring: 'Frühjahr', summer: 'Sommer', autumn: 'Herbst' },
    labels: {
      leaf: 'Blatt',
      origin: 'Herkunft',
      harvest: 'Ernte',
      water: 'Wasser',
      time: 'Ziehzeit',
      price: 'Preis',
    },
    water: celsius,
    time: minutes,
    per100g: (price) => `${price} je 100\u00a0g`,
    about:
      'Aus einem einzigen Garten und einer einzigen Ernte, nie gemischt oder aromatisiert. Jede Partie wird blind gegen die vorige verkostet; nur wenn sie mindestens so gut ist, behält sie ihren Namen.',
    brewing: 'So gelingt er',
    steps: (tea) => [
      'Die Kanne vorwärmen und leeren.',
      'Einen gestrichenen Teelöffel Blätter je Tasse nehmen.',
      `Frisches Wasser mit ${celsius(tea.celsius)} aufgießen und zudecken.`,
      `${tea.minutes} Minuten ziehen lassen, dann die Blätter herausnehmen. Sie reichen für eine zweite Kanne.`,
    ],
    storage:
      'Trocken, dunkel und verschlossen lagern, nicht neben Kaffee oder Gewürzen. Achtzehn Monate lang schmeckt er am besten.',
    delivery: 'Am Versandtag verpackt. Versand frei ab 40\u00a0€, Rückgabe binnen 30 Tagen.',
  },
  'fr-FR': {
    price: FRENCH,
    leaves: {
      black: 'Thé noir',
      green: 'Thé vert',
      oolong: 'Oolong',
      white: 'Thé blanc',
      yellow: 'Thé jaune',
    },
    countries: {
      China: 'Chine',
      India: 'Inde',
      Japan: 'Japon',
      Kenya: 'Kenya',
      Korea: 'Corée',
      'Sri Lanka': 'Sri Lanka',
      Taiwan: 'Taïwan',
    },
    seasons: { spring: 'Printemps', summer: 'Été', autumn: 'Automne' },
    labels: {
      leaf: 'Feuille',
      origin: 'Origine',
      harvest: 'Récolte',
      water: 'Eau',
      time: 'Infusion',
      price: 'Prix',
    },
    water: celsius,
    time: minutes,
    per100g: (price) => `${price} les 100\u00a0g`,
    about:
      'D’un seul jardin et d’une seule récolte, jamais mélangé ni aromatisé. Chaque lot est goûté à l’aveugle face au précédent ; il ne garde son nom que s’il est au moins aussi bon.',
    brewing: 'Pour bien l’infuser',
    steps: (tea) => [
      'Réchauffer la théière, puis la vider.',
      'Compter une cuillère à café rase de feuilles par tasse.',
      `Verser de l’eau fraîche à ${celsius(tea.celsius)} et couvrir.`,
      `Attendre ${tea.minutes} minutes, puis retirer les feuilles. Elles donnent une deuxième théière.`,
    ],
    storage:
      'À garder au sec, à l’ombre et fermé, loin du café et des épices. Il est au mieux pendant dix-huit mois.',
    delivery: 'Emballé le jour de l’envoi. Livraison offerte dès 40\u00a0€, retour sous 30 jours.',
  },
}

/** The locale with exactly this tag, such as `de-DE`. */
export function findLocale(tag: string): Locale | undefined {
  // Not `LOCALES[tag]` alone: the tag comes from a URL, and could be `constructor`.
  return Object.keys(LOCALES).includes(tag) ? LOCALES[tag] : undefined
}

/** Formats an amount below 1000 euros, so it needs no thousands separator. */
export function formatPrice(cents: number, { decimal, before, after }: PriceFormat): string {
  const fraction = cents % 100
  return `${before}${(cents - fraction) / 100}${decimal}${fraction < 10 ? '0' : ''}${fraction}${after}`
}
