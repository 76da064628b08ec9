<?php
/**
 * Sends letters. A letter is sent once.
 *
 * @package Post
 */

declare(strict_types=1);

namespace Acme\Post;

use Acme\Core\Address;
use InvalidArgumentException as Bad;

const LIMIT = 50;
define('POST_DEBUG', false);

/**
 * What can be sent.
 */
interface Sendable extends \Countable
{
    public const KIND = 'letter';

    /** Sends it. */
    public function send(Address $to, int ...$weights): bool;
}

/**
 * A letter, e.g. a registered one. More of it.
 */
#[Entity(table: 'letters')]
final class Letter extends Document implements Sendable, \JsonSerializable
{
    use Stamps, Dates {
        Stamps::weight insteadof Dates;
    }

    public const int MOST = 10, LEAST = 1;
    private const SECRET = 'x';

    /** @var string who wrote it */
    public readonly string $from;
    protected ?Address $to = null, $via;
    private static array $seen = [];
    var $old;

    /**
     * Writes a letter.
     *
     * @param string $text what it says
     */
    public function __construct(
        private readonly string $text,
        public int|float $weight = 0.5, // in kilograms
        array $options = ['registered' => false, 'insured' => false],
    ) {
        $this->from = $text;
    }

    #[\Override]
    public function send(Address $to, int ...$weights): bool
    {
        return array_sum(array_map(fn ($x) => $x, $weights)) > 0;
    }

    public static function &open(string &$path): static
    {
        return new static($path);
    }

    abstract protected function seal(): void;

    private function hidden(): void
    {
    }

    function unmarked($value)
    {
    }
}

trait Stamps
{
    protected int $stamps = 0;

    public function stamp(int $count): static
    {
        return $this;
    }
}

enum Class_: string implements HasLabel
{
    case First = 'a';
    case Second = 'b';

    const DEFAULT = self::First;

    public static function cheapest(): self
    {
        return self::Second;
    }
}

abstract class Document
{
}

/** Posts a letter. */
function post(Letter $letter, callable $then = null): ?string
{
    return null;
}

if (!function_exists('weigh')) {
    function weigh(Letter $letter): float
    {
        return 1.0;
    }
}

$count = 0;
