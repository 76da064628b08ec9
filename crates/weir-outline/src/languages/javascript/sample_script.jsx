/* Runs in a page. */
var counter = 0;
const App = () => <p>{counter}</p>;
function start(root) {
  render(<App />, root);
}
class View {
  draw(context) {}
}
start(document.body);
