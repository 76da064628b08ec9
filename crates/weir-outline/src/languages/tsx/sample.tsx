/** A list that can be filtered. */
import React, { useState } from "react";

export type Props<T> = {
  items: T[];
  onPick?: (item: T) => void;
};

/** Shows the list. */
export function List<T>({ items, onPick }: Props<T>): JSX.Element {
  const [filter, setFilter] = useState("");
  return <ul>{items.map((item) => <li key={String(item)}>{String(item)}</li>)}</ul>;
}

export const Button = ({ label }: { label: string }) => <button>{label}</button>;

export const Fancy = React.memo(function Fancy(props: { title: string; subtitle?: string; children: React.ReactNode }) {
  return <h1>{props.title}</h1>;
});

export class Panel extends React.Component<Props<string>, { open: boolean }> {
  state = { open: false };
  private toggle = () => this.setState({ open: !this.state.open });

  render() {
    return <div onClick={this.toggle} />;
  }
}

const inner = <T,>(x: T) => x;

export default List;
