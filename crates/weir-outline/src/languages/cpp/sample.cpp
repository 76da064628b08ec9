// Copyright the authors. All rights reserved.

// Draws charts. A chart is made of series and axes.
#include "chart.hpp"

#include <map>
#include <vector>

#define CHART_CHECK(condition, text) \
    if (!(condition)) fail(text)

namespace charts {

class Canvas;
template <typename T> class Series;

/// How a line is drawn.
enum class Stroke : unsigned char { Solid, Dashed = 2, Dotted };

/// A point. It may be off the canvas.
struct Point {
    double x = 0;
    double y{0};

    constexpr Point operator+(const Point &other) const noexcept { return {x + other.x, y + other.y}; }
    friend bool operator==(const Point &, const Point &) = default;

private:
    int cached_;
};

/**
 * A series of values.
 * @tparam T their type
 */
template <typename T, std::size_t Size = 16>
class Series final : public Drawable, private Counted<Series<T, Size>> {
    std::vector<T> values_;

public:
    using value_type = T;
    static constexpr int kMost = 100;

    Series() = default;
    explicit Series(std::vector<T> values, Stroke stroke = Stroke::Solid);
    Series(const Series &) = delete;
    virtual ~Series();

    /// Draws it.
    void draw(Canvas &canvas) const override;
    [[nodiscard]] virtual auto bounds() const -> std::pair<T, T> = 0;

    template <typename F>
    void each(F &&visit) {
        for (auto &value : values_) visit(value);
    }

    operator bool() const { return !values_.empty(); }
    T &operator[](std::size_t at);

    struct Mark {
        Point at;
        std::string text;
    };

protected:
    void changed();

private:
    void recount();
    friend class Canvas;
    int count_ = 0, limit_;
};

template <typename T, std::size_t Size>
Series<T, Size>::Series(std::vector<T> values, Stroke stroke) : values_(std::move(values)), count_(0)
{
    recount();
}

void Canvas::line(Point from, Point to, Stroke stroke)
{
}

template <typename T>
concept Drawn = requires(T value) {
    { value.draw() } -> std::same_as<void>;
};

template <Drawn T>
requires std::copyable<T>
T copy_of(const T &value)
{
    return value;
}

using Palette = std::map<std::string, unsigned>;
typedef void (*Callback)(int code);
inline constexpr double kGolden = 1.618;
extern Palette palette;
static int counter = 0;

namespace detail {
int round_up(double value) { return static_cast<int>(value + 1); }
} // namespace detail

namespace {
int hidden() { return 1; }
} // namespace

static void also_hidden() {}

inline namespace v2::drawing {
class Brush {
    int width_;

public:
    Brush &with(int width) &;
};
} // namespace v2::drawing

} // namespace charts

extern "C" {
int charts_open(const char *path);
}

extern "C" void charts_close(int handle) {}

int main()
{
    return 0;
}
