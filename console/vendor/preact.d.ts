// The types of preact.js.
import type { VNode } from "preact";

export * from "./preact.entry.mjs";
export type { ReadonlySignal } from "@preact/signals";
export type { ComponentChildren, ComponentType, JSX, RefObject, VNode } from "preact";

/** Returns the element that a template describes. */
export function html(strings: TemplateStringsArray, ...values: unknown[]): VNode;
