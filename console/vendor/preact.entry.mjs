// What console/vendor/preact.js exports: Preact with its hooks, signals, and htm's templates.
import htm from "htm";
import { h } from "preact";

export { Component, createContext, createRef, Fragment, h, render } from "preact";
export {
  useCallback,
  useContext,
  useEffect,
  useErrorBoundary,
  useId,
  useLayoutEffect,
  useMemo,
  useReducer,
  useRef,
  useState,
} from "preact/hooks";
export {
  batch,
  computed,
  effect,
  signal,
  Signal,
  untracked,
  useComputed,
  useSignal,
  useSignalEffect,
} from "@preact/signals";
export const html = htm.bind(h);
